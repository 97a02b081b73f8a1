#pragma once
// A small reverse-mode tape, for the training on devices. Its operations (arithmetic.h, rows.h, ragged.h,
// losses.h) are whole layers over matrices, so a pass of a model is some dozens of records.
//
// A tape serves one pass: inputs, operations, one backward(). Values refer to their tape, which must outlive
// them and stay in place. Not thread-safe. Shapes that do not fit are mistakes in the program and throw
// std::logic_error: whoever makes inputs from foreign bytes checks them first. Templates, because the tests
// hold every operation to finite differences, which need double.

#include <Eigen/Core>
#include <deque>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sotto::local {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Matrix<float>;
using Eigen::Index;

template <class Real>
class Tape;

// A matrix on a tape. Cheap to copy.
template <class Real>
class Value {
 public:
  const Matrix<Real>& numbers() const { return record_->numbers; }
  Index rows() const { return numbers().rows(); }
  Index cols() const { return numbers().cols(); }
  // Of the loss, after backward(): of inputs made by Tape::trained() alone, others are gone by then.
  const Matrix<Real>& gradient() const { return record_->gradient; }
  bool wants_gradient() const { return record_->wants_gradient; }
  Tape<Real>& tape() const { return *tape_; }

  // For operations: the gradient grows by `part`, which is not even computed where nobody wants it.
  template <class Derived>
  void add_gradient(const Eigen::MatrixBase<Derived>& part) const {
    if (!wants_gradient() || numbers().size() == 0) return;
    if (record_->gradient.size() == 0)
      record_->gradient.noalias() = part;
    else
      record_->gradient.noalias() += part;
  }
  // The same for operations that write into single rows.
  Matrix<Real>& gradient_to_fill() const {
    if (record_->gradient.size() == 0) record_->gradient.setZero(rows(), cols());
    return record_->gradient;
  }

 private:
  friend class Tape<Real>;
  struct Record {
    Matrix<Real> numbers, gradient;
    bool wants_gradient = false;
    // Hands the gradient of the result on to the operation's inputs; empty for inputs of the tape.
    std::function<void(const Matrix<Real>& gradient, const Matrix<Real>& result)> backward;
  };
  Value(Tape<Real>& tape, Record& record) : tape_(&tape), record_(&record) {}
  Tape<Real>* tape_;
  Record* record_;
};

template <class Real>
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // What the loss is differentiated by, and what is only read.
  Value<Real> trained(Matrix<Real> numbers) { return add(std::move(numbers), true, {}); }
  Value<Real> constant(Matrix<Real> numbers) { return add(std::move(numbers), false, {}); }

  // The result of an operation. backward(gradient of the result, and the result where it asks for it) adds to
  // the gradients of the inputs.
  template <class Backward>
  Value<Real> record(Matrix<Real> numbers, std::initializer_list<Value<Real>> inputs, Backward backward) {
    bool wanted = false;
    for (const Value<Real>& input : inputs) wanted = wanted || input.wants_gradient();
    if (!wanted) return constant(std::move(numbers));
    if constexpr (std::is_invocable_v<Backward, const Matrix<Real>&>)
      return add(
          std::move(numbers), true,
          [own = std::move(backward)](const Matrix<Real>& gradient, const Matrix<Real>&) { own(gradient); });
    else
      return add(std::move(numbers), true, std::move(backward));
  }

  // Gradients of a loss [1, 1]. What lies between it and the inputs is given up on the way. Once.
  void backward(const Value<Real>& loss) {
    if (loss.rows() != 1 || loss.cols() != 1) throw std::logic_error("a loss is one number");
    if (walked_) throw std::logic_error("a tape is walked back once");
    walked_ = true;
    for (auto& record : records_)
      if (record.wants_gradient && !record.backward)
        record.gradient.setZero(record.numbers.rows(), record.numbers.cols());
    loss.add_gradient(Matrix<Real>::Ones(1, 1));
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
      if (!record->backward) continue;
      // Nothing of the loss depends on what got no gradient.
      if (record->gradient.size() > 0) record->backward(record->gradient, record->numbers);
      record->gradient.resize(0, 0);
      if (&*record != loss.record_) record->numbers.resize(0, 0);
    }
  }

 private:
  using Record = typename Value<Real>::Record;
  Value<Real> add(Matrix<Real> numbers, bool wanted,
                  std::function<void(const Matrix<Real>&, const Matrix<Real>&)> backward) {
    records_.push_back({std::move(numbers), {}, wanted, std::move(backward)});
    return Value<Real>(*this, records_.back());
  }
  std::deque<Record> records_;  // which keeps its elements in place
  bool walked_ = false;
};

// For operations.
inline void require_shape(bool fits, const char* what) {
  if (!fits) throw std::logic_error(what);
}

}  // namespace sotto::local
