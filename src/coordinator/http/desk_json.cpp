#include "coordinator/http/desk_json.h"

namespace sotto::coordinator {

using nlohmann::json;

json json_of(const DeskCounts& counts) {
  json phases = json::object();
  for (std::size_t i = 0; i < counts.phases.size(); ++i)
    phases[secagg::name_of(static_cast<secagg::ServerPhase>(i))] = {
        {"answered", counts.phases[i].answered},
        {"seconds", std::chrono::duration<double>(counts.phases[i].took).count()}};
  return {{"waiting", counts.checked_in},
          {"came", counts.came},
          {"groups_open", counts.groups_open},
          {"groups_summed", counts.groups_summed},
          {"groups_failed", counts.groups_failed},
          {"groups_implausible", counts.groups_implausible},
          {"grouped", counts.devices_grouped},
          {"summed", counts.devices_summed},
          {"left_out", counts.devices_left_out},
          {"bytes_received", counts.bytes_received},
          {"phases", phases},
          {"last_failure", counts.last_failure}};
}

std::string text_of(const json& body) { return body.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace sotto::coordinator
