#pragma once
// Settings that the experiments on news share. Quick: narrow models and few rounds. Full: the papers' sizes,
// which are the recipes' defaults, or with --set width=narrow vectors of 64 numbers.

#include <cstdint>
#include <string>
#include <vector>

#include "eval/experiments/grid/grid.h"

namespace sotto::eval {

using Settings = std::vector<std::string>;

// Which news model a recipe trains.
Settings with_model(std::string_view name);
// Of every row, where the recipe has them.
Settings news_settings(const GridContext& context, std::int64_t full_rounds);
// How many numbers a user vector has with them.
std::uint64_t user_vector_size(const GridContext& context);
// A model trained in one place: batches of clicks, Adam, the best of the rounds looked at.
Settings central_settings(const GridContext& context);
// Federated rounds without noise.
Settings federated_settings(const GridContext& context);
std::string federated_rate(const GridContext& context);  // "learning_rate=X", of their Adam
Status check_width(const GridContext& context);
// Factors of items learned from clicks alone.
Settings fcf_settings(const GridContext& context);
// Rounds with user-level noise for a budget: large cohorts, the last round.
Settings sound_settings(const GridContext& context, const Budget& budget);
// Our own system at a budget, and its twin without noise, with the recipe's own defaults: they are meant to
// be good without tuning.
std::vector<GridRow> sotto_rows(const GridContext& context, const Budget& budget);
// BERT costs more than everything else together: fewer rounds when quick.
Settings bert_settings(const GridContext& context);
// Where it is trained by devices: fewer of them when quick.
Settings bert_devices(const GridContext& context);

// "cohort=N": a share of the users, at least 40.
std::string cohort_of(const GridContext& context, double share);

// Numbers of users to train with, no more than there are.
std::vector<std::int64_t> user_numbers(const GridContext& context);
std::string user_share(const GridContext& context, std::int64_t users);

Settings operator+(Settings first, const Settings& second);

// Where an ε stands on an axis: infinity at 100.
double axis_epsilon(double epsilon);
std::string epsilon_name(double epsilon);     // "10", "∞"
std::string epsilon_setting(double epsilon);  // as a setting, where 0 means without noise

}  // namespace sotto::eval
