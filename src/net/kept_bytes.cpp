#include "net/kept_bytes.h"

namespace sotto::net {

bool KeptBytes::charge() {
  const auto size = static_cast<std::int64_t>(bytes.capacity());
  charged_ = charged_ || budget_->take(size, size <= ConnectionBudget::small_bytes);
  return charged_;
}

void KeptBytes::let_go() {
  const std::lock_guard lock(mutex_);
  kept_ = false;
  if (readers_.empty() || charge()) return;
  for (auto& cut_off : readers_) {
    if (auto once = std::exchange(cut_off, {})) once();
  }
}

std::optional<KeptBytes::Reader> KeptBytes::read(const std::shared_ptr<KeptBytes>& kept,
                                                 std::shared_ptr<ProcessBudget> budget,
                                                 std::function<void()> cut_off) {
  const std::lock_guard lock(kept->mutex_);
  if (!kept->budget_) kept->budget_ = std::move(budget);
  if (!kept->kept_ && !kept->charge()) return std::nullopt;
  const auto place = kept->readers_.insert(kept->readers_.end(), std::move(cut_off));
  return Reader(kept, place);
}

void KeptBytes::leave(Reader::Place reader) {
  const std::lock_guard lock(mutex_);
  readers_.erase(reader);
  if (!readers_.empty()) return;
  if (charged_) budget_->give_back(static_cast<std::int64_t>(bytes.capacity()));
  charged_ = false;
  budget_.reset();
}

}  // namespace sotto::net
