#include "coordinator/store/records.h"

namespace sotto::coordinator {

std::string_view name(CampaignState state) {
  switch (state) {
    case CampaignState::open:
      return "open";
    case CampaignState::paused:
      return "paused";
    case CampaignState::finished:
      break;
  }
  return "finished";
}

std::string_view name(OrderState state) {
  switch (state) {
    case OrderState::open:
      return "open";
    case OrderState::unmasking:
      return "unmasking";
    case OrderState::summed:
      return "summed";
    case OrderState::folded:
      return "folded";
    case OrderState::abandoned:
      break;
  }
  return "abandoned";
}

}  // namespace sotto::coordinator
