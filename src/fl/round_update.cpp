#include "fl/round_update.h"

#include <algorithm>

namespace sotto::fl {

namespace {

// Rows that wait to be handed on together.
class CollectedRows {
 public:
  explicit CollectedRows(const std::function<Status(const UpdateBlock&)>& take) : take_(take) {}

  Status add(const UserUpdate& own) {
    const torch::Tensor row = own.direction.detach();
    if (!rows_.defined() || rows_.size(1) != row.numel()) {
      SOTTO_CHECK(flush());
      rows_ = torch::empty({rows_of(row), row.numel()}, row.options());
    }
    rows_[static_cast<std::int64_t>(users_.size())].copy_(row.view({-1}));
    users_.push_back(own.user);
    losses_.push_back(own.loss);
    samples_.push_back(own.samples);
    if (users_.size() < static_cast<std::size_t>(rows_.size(0))) return {};
    return flush();
  }

  Status flush() {
    if (users_.empty()) return {};
    const auto count = static_cast<std::int64_t>(users_.size());
    Status taken = take_({users_, rows_.narrow(0, 0, count), losses_, samples_});
    users_.clear(), losses_.clear(), samples_.clear();
    return taken;
  }

 private:
  static std::int64_t rows_of(const torch::Tensor& row) {
    constexpr std::size_t most = 4096;  // of small updates: more make nothing faster
    const std::size_t fit = UserUpdates::block_bytes / std::max<std::size_t>(row.nbytes(), 1);
    return static_cast<std::int64_t>(std::clamp<std::size_t>(fit, 1, most));
  }

  const std::function<Status(const UpdateBlock&)>& take_;
  torch::Tensor rows_;
  std::vector<data::UserId> users_;
  std::vector<double> losses_;
  std::vector<std::uint64_t> samples_;
};

}  // namespace

Status UserUpdates::each_block(std::uint32_t round, std::span<const data::UserId> users,
                               const std::function<Status(const UpdateBlock&)>& take) {
  CollectedRows rows(take);
  SOTTO_CHECK(each_update(round, users, [&](const UserUpdate& own) { return rows.add(own); }));
  return rows.flush();
}

}  // namespace sotto::fl
