#include "device/model/user_model.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "base/settings.h"

namespace sotto::device {

namespace {

template <class Derived>
void softmax_in_place(Eigen::MatrixBase<Derived>& scores) {
  scores.array() = (scores.array() - scores.maxCoeff()).exp();
  scores /= scores.sum();
}

Row sigmoid(const Row& x) { return (1 + (-x.array()).exp()).inverse().matrix(); }

}  // namespace

Rows SelfAttention::forward(const Rows& rows) const {
  const Rows projected = rows * weight;
  const Eigen::Index size = weight.cols() / 3;
  const Eigen::Index head = size / heads;
  Rows out(rows.rows(), size);
  for (Eigen::Index h = 0; h < heads; ++h) {
    const auto queries = projected.middleCols(h * head, head);
    const auto keys = projected.middleCols(size + h * head, head);
    const auto values = projected.middleCols(2 * size + h * head, head);
    Rows scores = queries * keys.transpose() / std::sqrt(static_cast<float>(head));
    for (Eigen::Index w = 0; w < scores.rows(); ++w) {
      auto row = scores.row(w);
      softmax_in_place(row);
    }
    out.middleCols(h * head, head).noalias() = scores * values;
  }
  return out;
}

Row AdditivePooling::forward(const Rows& rows) const {
  const Rows hidden = ((rows * weight).rowwise() + bias).array().tanh().matrix();
  Row scores = query * hidden.transpose();
  softmax_in_place(scores);
  return scores * rows;
}

Row QueryPooling::forward(const Rows& rows) const {
  Row scores = query * rows.transpose();
  softmax_in_place(scores);
  return scores * rows;
}

Row RecentGru::forward(const Rows& rows) const {
  const Eigen::Index size = candidate.cols();
  const Eigen::Index count = std::min(most, rows.rows());
  const Rows projected = (rows.bottomRows(count) * input).rowwise() + bias;
  Row state = Row::Zero(size);
  for (Eigen::Index step = 0; step < count; ++step) {
    const auto x = projected.row(step);
    const Row opened = sigmoid(x.head(2 * size) + state * gates);
    const Row reset_state = (opened.tail(size).array() * state.array()).matrix();
    const Row proposal = (x.tail(size) + reset_state * candidate).array().tanh().matrix();
    const auto update = opened.head(size).array();
    state = (update * state.array() + (1 - update) * proposal.array()).matrix();
  }
  return state;
}

}  // namespace sotto::device

namespace sotto::device {

namespace {

using device::AdditivePooling;
using device::QueryPooling;
using device::RecentGru;
using device::Row;
using device::Rows;
using device::SelfAttention;

struct AttentionUser {  // nrms
  SelfAttention attention;
  AdditivePooling pooling;
  Row forward(const Rows& clicks) const { return pooling.forward(attention.forward(clicks)); }
};

struct PooledUser {  // naml
  AdditivePooling pooling;
  Row forward(const Rows& clicks) const { return pooling.forward(clicks); }
};

struct LongShortUser {  // fednewsrec
  AttentionUser long_term;
  RecentGru short_term;
  AdditivePooling merge;
  Row forward(const Rows& clicks) const {
    Rows both(2, clicks.cols());
    both.row(0) = long_term.forward(clicks);
    both.row(1) = short_term.forward(clicks);
    return merge.forward(both);
  }
};

struct CatalogueUser {  // u = average + W/(W + doubt) · scale ∘ pooled clicks
  Row average, scale;   // [D]
  QueryPooling pooling;
  float doubt = 0;
  Row forward(const Rows& clicks) const {
    const auto count = static_cast<float>(clicks.rows());
    const float trust = count / (count + doubt);
    return average + trust * (scale.array() * pooling.forward(clicks).array()).matrix();
  }
};

struct SumUser {  // u = constant + (Σ clicks · mix) / √n, of the n clicks that say something
  Rows mix;       // [D, D]
  Row constant;   // [D]
  Row forward(const Rows& clicks) const {
    const Rows said = clicks * mix;
    const auto heard = static_cast<float>((said.array() != 0).rowwise().any().count());
    return heard > 0 ? Row(constant + said.colwise().sum() / std::sqrt(heard)) : constant;
  }
};

struct MeanUser {
  Row forward(const Rows& clicks) const { return clicks.colwise().mean(); }
};

// Takes weights by name and remembers which were taken.
class Weights {
 public:
  explicit Weights(std::span<const NamedTensor> tensors) : tensors_(tensors), taken_(tensors.size(), false) {}

  // columns 0: a vector of `rows` numbers. rows or columns -1: any size.
  Result<Rows> take(const std::string& name, std::int64_t rows, std::int64_t columns) {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [&](const NamedTensor& tensor) { return tensor.name == name; });
    if (found == tensors_.end()) return bad_input("the user model has no weights \"{}\"", name);
    taken_[static_cast<std::size_t>(found - tensors_.begin())] = true;
    const std::vector<std::uint32_t>& shape = found->shape;
    const bool is_vector = columns == 0;
    const auto fits = [](std::int64_t wanted, std::uint32_t given) {
      return wanted < 0 ? given > 0 : wanted == given;
    };
    if (shape.size() != (is_vector ? 1U : 2U) || !fits(rows, shape[0]) ||
        (!is_vector && !fits(columns, shape[1]))) {
      return bad_input("the weights \"{}\" have the wrong shape", name);
    }
    const auto height = static_cast<Eigen::Index>(is_vector ? 1 : shape[0]);
    const auto width = static_cast<Eigen::Index>(is_vector ? shape[0] : shape[1]);
    if (static_cast<Eigen::Index>(found->values.size()) != height * width) {
      return bad_input("the weights \"{}\" do not fill their shape", name);
    }
    if (!std::all_of(found->values.begin(), found->values.end(), [](float x) { return std::isfinite(x); })) {
      return bad_input("the weights \"{}\" are not finite", name);
    }
    return Rows(Eigen::Map<const Rows>(found->values.data(), height, width));
  }

  Result<AdditivePooling> pooling(const std::string& name, std::int64_t size) {
    AdditivePooling pooling;
    SOTTO_TRY(pooling.weight, take(name + ".weight", size, -1));
    SOTTO_TRY(pooling.bias, take(name + ".bias", pooling.weight.cols(), 0));
    SOTTO_TRY(pooling.query, take(name + ".query", pooling.weight.cols(), 0));
    return pooling;
  }

  Result<SelfAttention> attention(const std::string& name, const UserModelShape& shape) {
    if (shape.heads == 0 || shape.dimension % shape.heads != 0) {
      return bad_input("{} attention heads do not divide vectors of {} numbers", shape.heads,
                       shape.dimension);
    }
    SelfAttention attention;
    attention.heads = shape.heads;
    SOTTO_TRY(attention.weight, take(name + ".weight", shape.dimension, std::int64_t{3} * shape.dimension));
    return attention;
  }

  Result<RecentGru> gru(const std::string& name, const UserModelShape& shape) {
    if (shape.recent_clicks == 0) return bad_input("the recurrent unit must read at least one click");
    const std::int64_t size = shape.dimension;
    RecentGru gru;
    gru.most = shape.recent_clicks;
    SOTTO_TRY(gru.input, take(name + ".input", size, 3 * size));
    SOTTO_TRY(gru.gates, take(name + ".gates", size, 2 * size));
    SOTTO_TRY(gru.candidate, take(name + ".candidate", size, size));
    SOTTO_TRY(gru.bias, take(name + ".bias", 3 * size, 0));
    return gru;
  }

  // Weights that the server trains as logarithms: one row of them. Too large ones are refused.
  Result<Row> exponentials(const std::string& name, std::int64_t size) {
    SOTTO_TRY(const Rows logarithms, take(name, 1, size));
    Row values = logarithms.row(0).array().exp().matrix();
    if (!values.allFinite()) return bad_input("the weights \"{}\" are too large", name);
    return values;
  }

  Result<CatalogueUser> catalogue(std::int64_t size) {
    CatalogueUser user;
    SOTTO_TRY(user.scale, exponentials("scale", size));
    SOTTO_TRY(user.average, take("average", 1, size));
    SOTTO_TRY(user.pooling.query, take("query", size, 0));
    SOTTO_TRY(const Row doubt, exponentials("doubt", 1));
    user.doubt = doubt[0];
    return user;
  }

  Status all_taken() const {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (!taken_[i]) return bad_input("the user model does not know the weights \"{}\"", tensors_[i].name);
    }
    return {};
  }

 private:
  std::span<const NamedTensor> tensors_;
  std::vector<bool> taken_;
};

}  // namespace

class UserModel::Layers
    : public std::variant<AttentionUser, PooledUser, LongShortUser, CatalogueUser, SumUser, MeanUser> {
 public:
  using Any = variant;
  using variant::variant;
};

Result<UserModel> UserModel::create(const UserModelShape& shape, std::span<const NamedTensor> tensors) {
  constexpr std::uint32_t most = 1U << 16U;
  if (shape.dimension == 0 || shape.dimension > most) {
    return bad_input("vectors have 1 to {} numbers, not {}", most, shape.dimension);
  }
  Weights weights(tensors);
  std::shared_ptr<const Layers> layers;
  if (shape.kind == "nrms") {
    AttentionUser user;
    SOTTO_TRY(user.attention, weights.attention("user.attention", shape));
    SOTTO_TRY(user.pooling, weights.pooling("user.pooling", shape.dimension));
    layers = std::make_shared<Layers>(std::move(user));
  } else if (shape.kind == "naml") {
    PooledUser user;
    SOTTO_TRY(user.pooling, weights.pooling("clicks", shape.dimension));
    layers = std::make_shared<Layers>(std::move(user));
  } else if (shape.kind == "fednewsrec") {
    LongShortUser user;
    SOTTO_TRY(user.long_term.attention, weights.attention("click_attention", shape));
    SOTTO_TRY(user.long_term.pooling, weights.pooling("click_pooling", shape.dimension));
    SOTTO_TRY(user.short_term, weights.gru("recent_clicks", shape));
    SOTTO_TRY(user.merge, weights.pooling("merge_pooling", shape.dimension));
    layers = std::make_shared<Layers>(std::move(user));
  } else if (shape.kind == "catalogue") {
    SOTTO_TRY(auto user, weights.catalogue(shape.dimension));
    layers = std::make_shared<Layers>(std::move(user));
  } else if (shape.kind == "sum") {
    SumUser user;
    SOTTO_TRY(user.mix, weights.take("mix", shape.dimension, shape.dimension));
    SOTTO_TRY(user.constant, weights.take("constant", shape.dimension, 0));
    layers = std::make_shared<Layers>(std::move(user));
  } else if (shape.kind == "mean") {
    layers = std::make_shared<Layers>(MeanUser{});
  } else {
    const auto known = nearest(shape.kind, {std::begin(user_model_kinds), std::end(user_model_kinds)});
    return bad_input("there is no user model \"{}\"{}", shape.kind,
                     known ? fmt::format("; did you mean \"{}\"?", *known) : "");
  }
  SOTTO_CHECK(weights.all_taken());
  return UserModel(shape, std::move(layers));
}

std::vector<float> UserModel::encode(std::span<const float> clicks) const {
  const auto columns = static_cast<Eigen::Index>(shape_.dimension);
  const auto count = static_cast<Eigen::Index>(clicks.size()) / columns;
  Rows rows = Rows::Zero(std::max<Eigen::Index>(count, 1), columns);
  if (count > 0) rows = Eigen::Map<const Rows>(clicks.data(), count, columns);
  const Row user = std::visit([&](const auto& layers) { return layers.forward(rows); },
                              static_cast<const Layers::Any&>(*layers_));
  return {user.data(), user.data() + user.size()};
}

}  // namespace sotto::device
