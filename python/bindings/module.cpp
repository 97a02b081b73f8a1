// sotto._core: the libraries that need no torch.
#include "base/log.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "bindings/bindings.h"

NB_MODULE(_core, module) {
  using namespace sotto;
  using namespace sotto::python;
  module.doc() = "The libraries of Sotto that need no torch.";
  nb::exception<InputError>(module, "InputError", PyExc_ValueError);
  nb::exception<FailedError>(module, "FailedError", PyExc_RuntimeError);
  nb::exception<ConflictError>(module, "ConflictError", PyExc_RuntimeError);
  module.attr("version") = SOTTO_VERSION;
  // A library says nothing unless it is asked to.
  set_progress_style(ProgressStyle::silent);
  check(set_log_level("warn"));
  module.def(
      "set_threads",
      [](int threads) {
        if (threads < 1 || threads > 4096)
          throw InputError(fmt::format("threads is {}, must be 1 to 4096", threads));
        set_thread_count(threads);
      },
      nb::arg("threads"), "Threads that parallel loops use; all cores of this process by default.");
  module.def("threads", &thread_count, "Threads that parallel loops use.");
  module.def(
      "set_log_level", [](const std::string& level) { check(set_log_level(level)); }, nb::arg("level"),
      "trace, debug, info, warn (default), error or off: what the library says on stderr.");

  auto privacy = module.def_submodule("privacy", "Accountants, mechanisms, ledger and audit.");
  bind_privacy(privacy);
  bind_ledger(privacy);
  auto data = module.def_submodule("data", "Data sets.");
  bind_data(data);
  auto metrics = module.def_submodule("metrics", "Ranking metrics.");
  bind_metrics(metrics);
  auto secagg = module.def_submodule("secagg", "Secure aggregation and private sums.");
  bind_secagg(secagg);
  auto device = module.def_submodule("device", "A reader's device, and ways to a server.");
  bind_device(device);
}
