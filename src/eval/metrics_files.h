#pragma once
// The rounds of a run as other programs read them, made from log.jsonl:
//
// tensorboard   RUN/tensorboard/events.out.tfevents.0.sotto: one event per round
// mlflow        RUN/mlruns: MLflow's file store with one experiment and one run: metrics by round, settings
// as parameters
//
// The log has no times of day, only seconds: the last round is placed at the log's own time. Whatever was
// there is replaced. Nothing is in these files that is not in the log, so nothing of a round reaches them
// before its checkpoint.

#include <array>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace sotto::eval {

inline constexpr std::array<std::string_view, 2> metrics_formats = {"tensorboard", "mlflow"};

Status write_metrics_files(const fs::path& run, std::string_view format);

}  // namespace sotto::eval
