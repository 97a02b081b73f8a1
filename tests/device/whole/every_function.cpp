// A host that needs all of sotto_device.h: what an app links that leaves out no function of it. Its size is
// what tests/install/check_closure.sh bounds.

#include <cstdio>

#include "device/sotto_device.h"

namespace {

template <class Function>
const void* at(Function* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

int main() {
  // Volatile: the linker must not find out that nobody calls them.
  const void* volatile functions[] = {
      at(sotto_device_version),     at(sotto_text_free),           at(sotto_device_open),
      at(sotto_device_close),       at(sotto_device_settings),     at(sotto_device_terms),
      at(sotto_device_agree),       at(sotto_device_consent),      at(sotto_device_withdraw),
      at(sotto_device_click),       at(sotto_device_click_opened), at(sotto_device_add_page),
      at(sotto_device_add_row),     at(sotto_device_set_profile),  at(sotto_device_install_pack),
      at(sotto_device_rank_again),  at(sotto_device_statement),    at(sotto_device_label_changes),
      at(sotto_device_export),      at(sotto_device_forget),       at(sotto_device_forget_item),
      at(sotto_device_erase),       at(sotto_device_refresh),      at(sotto_device_recommend),
      at(sotto_device_prepare),     at(sotto_device_campaign),     at(sotto_device_enrol),
      at(sotto_device_train),       at(sotto_talk_next),           at(sotto_talk_received),
      at(sotto_talk_received_with), at(sotto_talk_lost),           at(sotto_talk_result),
      at(sotto_talk_free)};
  int there = 0;
  for (const void* volatile& function : functions) there += function != nullptr ? 1 : 0;
  std::printf("%d functions of version %u\n", there, sotto_device_version());
  return 0;
}
