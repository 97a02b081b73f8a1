#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "recipes/table.h"

namespace sotto::recipes {

namespace {

constexpr RecipeEntry central(std::string_view name, std::string_view summary,
                              std::unique_ptr<Recipe> (*make)()) {
  return {name, summary, "None. All behaviour is collected by the server.", false, make};
}

constexpr RecipeEntry without_dp(std::string_view name, std::string_view summary,
                                 std::unique_ptr<Recipe> (*make)()) {
  return {name, summary,
          "No differential privacy. Rows and clicks stay on the devices; the server sees the update of every "
          "user who takes "
          "part in a round, from which items can be read off.",
          false, make};
}

}  // namespace

std::span<const RecipeEntry> recipes() {
  static constexpr std::array entries = {
      RecipeEntry{
          "sotto", "The flagship: public item vectors, a small user model under user-level noise",
          "User-level (epsilon, delta)-DP of the whole training, one user replaced, by distributed Skellam "
          "noise inside a secure sum, the clipping bound included; two numbers are printed, against the "
          "server, which sees the cohorts, and for what is published. Item vectors are made from the "
          "catalogue alone and cost nothing. Ranking happens on the device. noise=none: no differential "
          "privacy.",
          true, &make_sotto, true},
      RecipeEntry{"fednewsrec", "FedNewsRec: federated news recommendation with noise on every upload",
                  "sound (default): user-level (epsilon, delta)-DP of the whole training, one user replaced, "
                  "by distributed "
                  "Skellam noise inside a secure sum; two numbers are printed, against the server, which "
                  "sees the cohorts, and "
                  "for what is published. paper: element-wise clipping and Laplace noise as printed; the "
                  "claimed epsilon holds "
                  "per coordinate only, and what really holds for an upload is printed beside it.",
                  true, &make_fednewsrec, true},
      RecipeEntry{
          "efficient-fedrec", "Efficient-FedRec: the news model on the server, the user model on the devices",
          "sound (default): user-level (epsilon, delta)-DP of the whole training, one user replaced, by "
          "distributed Skellam noise inside a secure sum over the whole catalogue; two numbers are "
          "printed, against the server, which sees the cohorts, and for what is published. paper: no "
          "differential privacy. The server sees sums over a group only, but most items of a group's "
          "union are held by one device, whose gradient for them then shows.",
          true, &make_efficient_fedrec, true},
      RecipeEntry{
          "privaterec", "PrivateRec: readers as noisy mixtures of public basis vectors",
          "sound (default): user-level (epsilon, delta)-DP of the whole training as in fednewsrec; each "
          "query is epsilon_s-DP on its own by the sensitivity that holds, and queries add up. paper: noise "
          "inside the training pass, for which no epsilon holds, because gradients below it are computed "
          "from raw histories; the claimed epsilon is printed beside 'none'.",
          true, &make_private_rec, true},
      RecipeEntry{
          "dp-fedrec", "DP-FedRec: PrivateRec's baseline, noise on gradients and on user vectors (VDP)",
          "sound (default): user-level (epsilon, delta)-DP of the whole training as in fednewsrec; each "
          "query "
          "is epsilon_s-DP on its own, and queries add up. paper: Laplace noise on L2-clipped gradients and "
          "user vectors as printed; the claimed epsilon is printed beside what holds, the root of the number "
          "of coordinates times as much for one upload, and more for all of them.",
          true, &make_dp_fedrec},
      RecipeEntry{"fedrec", "FedNewsRec's model trained by federated rounds, without noise",
                  "No differential privacy. Clicks, histories and impressions stay on the devices; the "
                  "server sees the gradient of every user who takes "
                  "part in a round, from which clicked items can be reconstructed. Use it as the non-private "
                  "mark for the private recipes.",
                  false, &make_fedrec},
      RecipeEntry{
          "privrec", "PrivRec: federated meta-learning on interactions, tuned on the user's device",
          "No differential privacy. Rows, history and the tuned model stay on the devices; the server "
          "sees the difference of weights of every user who takes part in a round, from which items "
          "can be read off. Use it as the non-private mark for dp-privrec.",
          false, &make_privrec, true},
      RecipeEntry{
          "dp-privrec", "DP-PrivRec: PrivRec with user-level differential privacy",
          "sound (default): user-level (epsilon, delta)-DP of the whole training, one user replaced, by "
          "distributed Skellam noise inside a secure sum, the clipping bound included; two numbers are "
          "printed, against the server, which sees the cohorts, and for what is published. paper: the "
          "server clips and adds noise as printed; claimed epsilon and the one that holds for what is "
          "published are printed, and nothing holds against the server.",
          true, &make_dp_privrec, true},
      RecipeEntry{
          "dp-svd", "Item vectors from two private sums: who likes what together",
          "User-level (epsilon, delta)-DP of the whole training, one user replaced, by distributed Skellam "
          "noise inside two secure sums that all training users are in; the same number holds against the "
          "server and for what is published. Ranking happens on the device. noise=none: no differential "
          "privacy.",
          true, &make_dp_svd, true},
      without_dp("nn-self", "NN-SELF: second-order meta-learning (MAML) with PrivRec's model", &make_nn_self),
      without_dp("fofl-self", "FOFL-SELF: REPTILE on item vectors, without side information",
                 &make_fofl_self),
      without_dp("fcf",
                 "FCF: federated matrix factorisation of what users liked, in interactions or impressions",
                 &make_fcf),
      central("privrec-cen", "PrivRec's model trained on everybody's rows in one place", &make_privrec_cen),
      central("central", "A news model, --set model=NAME, trained on everybody's clicks in one place",
              &make_central),
  };
  return entries;
}

Result<const RecipeEntry*> find_recipe(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& entry : recipes()) {
    if (entry.name == name) return &entry;
    names.emplace_back(entry.name);
  }
  if (const auto near = nearest(name, names))
    return bad_input("unknown recipe '{}'; did you mean '{}'? 'sotto recipes' lists them all", name, *near);
  return bad_input("unknown recipe '{}'; 'sotto recipes' lists them all", name);
}

Result<torch::Device> RunRequest::compute_device() const {
  if (device == "cpu") return torch::Device(torch::kCPU);
  if (device != "cuda") return bad_input("unknown device '{}': cpu or cuda", device);
  if (!torch::cuda::is_available())
    return bad_input("this build of libtorch sees no CUDA device: use --device cpu");
  return torch::Device(torch::kCUDA);
}

tl::unexpected<Error> not_on_devices() {
  std::string names;
  for (const auto& entry : recipes())
    if (entry.on_devices) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return bad_input("devices do not train this recipe; they train {}", names);
}

Result<TrainedNews> Recipe::open(const RunRequest& request) {
  return bad_input(
      "{} holds no news model but vectors of items that are known by their ids, which 'sotto serve --run' "
      "serves. For a news model at the same epsilon train 'sotto' on the text view of the data (sotto data "
      "view DATA --view text --out DIR)",
      request.run.string());
}

Result<std::optional<TrainedFactors>> Recipe::open_factors(const RunRequest&) {
  return std::optional<TrainedFactors>();
}

Status bind_settings(Recipe& recipe, SettingsTable& table, const std::vector<std::string>& assignments,
                     const fs::path& toml) {
  recipe.bind(table);
  const auto rows = table.rows();
  bool chosen = false;
  for (const std::string key : {"model", "mode", "variant"}) {
    if (std::none_of(rows.begin(), rows.end(), [&](const auto& row) { return row.name == key; })) continue;
    std::optional<std::string> value;
    if (!toml.empty()) {
      SOTTO_TRY(value, toml_string(toml, key));
    }
    for (const std::string& assignment : assignments)
      if (assignment.starts_with(key + "=")) value = assignment.substr(key.size() + 1);
    if (!value) continue;
    SOTTO_CHECK(table.set(key, *value));
    chosen = true;
  }
  if (!chosen) return {};
  table = SettingsTable();
  recipe.bind(table);
  return {};
}

}  // namespace sotto::recipes
