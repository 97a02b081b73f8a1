#include "net/memory_budget.h"

#include <algorithm>
#include <utility>

#include "net/free_memory.h"

namespace sotto::net {

namespace {

constexpr std::int64_t worth_releasing = 8 << 20, worth_releasing_in_quiet = 1 << 20;

}  // namespace

bool ProcessBudget::take(std::int64_t bytes, bool small) {
  const std::int64_t limit = small ? limit_ : for_large(limit_);
  std::int64_t before = held_;
  do {
    if (bytes > limit - before) return false;
  } while (!held_.compare_exchange_weak(before, before + bytes));
  std::int64_t peak = peak_;
  while (peak < before + bytes && !peak_.compare_exchange_weak(peak, before + bytes)) {
  }
  return true;
}

void ProcessBudget::release_free_pages() {
  const std::int64_t now = held_;
  const bool is_quiet = now <= std::exchange(last_look_, now);
  if (peak_ - now < (is_quiet ? worth_releasing_in_quiet : worth_releasing)) return;
  peak_ = now;
  return_free_memory();
}

bool ConnectionBudget::take(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > limit_ - held_) return false;
  if (!process_->take(bytes, held_ + bytes <= small_bytes)) return false;
  held_ += bytes;
  return true;
}

void ConnectionBudget::give_back(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  held_ -= bytes;
  process_->give_back(bytes);
}

HeldBytes& HeldBytes::operator=(HeldBytes&& other) noexcept {
  if (this != &other) {
    hold(0);
    budget_ = std::move(other.budget_);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool HeldBytes::hold(std::int64_t bytes) {
  if (bytes > bytes_ && !budget_->take(bytes - bytes_)) return false;
  if (bytes < bytes_) budget_->give_back(bytes_ - bytes);
  bytes_ = bytes;
  return true;
}

}  // namespace sotto::net
