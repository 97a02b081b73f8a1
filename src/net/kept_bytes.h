#pragma once
// Bytes that one owner keeps and many connections hand out.
//
// While the owner keeps them they cost the server nothing more, however many read them. Once it has let go,
// only those who still read hold them: then they are charged to the budget of the process, once, and when
// there is no room for them their readers are cut off. Thread-safe; the bytes themselves never change.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/memory_budget.h"

namespace sotto::net {

class KeptBytes {
 public:
  explicit KeptBytes(std::string given) : bytes(std::move(given)) {}
  const std::string bytes;

  // By the owner, which keeps them no longer.
  void let_go();

  // Somebody who hands them out, as long as it lives.
  class Reader {
   public:
    Reader(Reader&& other) noexcept = default;
    Reader& operator=(Reader&& other) noexcept {
      std::swap(of_, other.of_);
      std::swap(place_, other.place_);
      return *this;
    }
    ~Reader() {
      if (of_) of_->leave(place_);
    }

   private:
    friend class KeptBytes;
    using Place = std::list<std::function<void()>>::iterator;
    Reader(std::shared_ptr<KeptBytes> of, Place place) : of_(std::move(of)), place_(place) {}
    std::shared_ptr<KeptBytes> of_;
    Place place_;
  };
  // Nothing: they are kept no longer, and there is no room for them. cut_off is called at most once, in any
  // thread and holding a lock: it must only leave word.
  static std::optional<Reader> read(const std::shared_ptr<KeptBytes>& kept,
                                    std::shared_ptr<ProcessBudget> budget, std::function<void()> cut_off);

 private:
  void leave(Reader::Place reader);
  bool charge();  // with mutex_ held

  std::mutex mutex_;
  bool kept_ = true;
  std::list<std::function<void()>> readers_;  // how each is cut off
  std::shared_ptr<ProcessBudget> budget_;     // of the readers
  bool charged_ = false;
};

}  // namespace sotto::net
