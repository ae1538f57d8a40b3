// What bundles keep of each member. Included by bundle.hpp and cxx17_bundle.hpp.
#pragma once

#include <functional>

#include "steadfold/common_array.hpp"
#include "steadfold/common_bundle.hpp"

#if __cplusplus >= 201703L

namespace steadfold::detail {

/// Where a range's elements are now.
template <class T>
using Source = std::function<View<T>()>;

/// `second`, if there is one, is the other factors of a dot product or a mask.
template <class T, class HeldOp, class SecondElement = T>
class MemberOfRanges final : public BundleMember {
 public:
  using Value = typename HeldOp::Result;

  template <class Op>
  MemberOfRanges(const Op& op, Source<const T> first, Source<const SecondElement> second, const MemberOptions& options)
      : held_(std::make_shared<HeldOp>(op)), options_(options), first_(std::move(first)), second_(std::move(second)) {}

  sf_call call() override { return call_of(*held_, size(), options_); }
  std::uint64_t size() const override { return first_().size(); }
  std::string fault() const override {
    if (!second_ || second_().size() == size()) return {};
    return "a second range of " + std::to_string(second_().size()) + " elements (the first one has " +
           std::to_string(size()) + "), give two of the same size";
  }
  sf_data data() override {
    return {first_().data(), second_ ? second_().data() : nullptr, &result_, nullptr, nullptr};
  }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }
  const Value& result() const { return result_; }

 private:
  std::shared_ptr<HeldOp> held_;
  MemberOptions options_;
  Source<const T> first_;
  Source<const SecondElement> second_;
  Value result_ = no_result<Value>();
};

/// Dot products of one vector with several others.
template <class T, class HeldOp>
class MemberOfDots final : public BundleMember {
 public:
  using Value = std::vector<typename HeldOp::Result>;

  MemberOfDots(Source<const T> x, const Vectors<T>& ys, const MemberOptions& options)
      : options_(options),
        x_(std::move(x)),
        ys_(ys),
        results_(ys.all().size(), no_result<typename Value::value_type>()) {
    for (const auto& y : ys_.all()) list_.push_back(y.data());
  }

  sf_call call() override {
    arrays_ = arrays_of_dots<T>(list_, nullptr, size());
    return call_of_dots<HeldOp>(arrays_, options_);
  }
  std::uint64_t size() const override { return x_().size(); }
  std::string fault() const override {
    for (const auto& y : ys_.all())
      if (y.size() != size())
        return "a factor of " + std::to_string(y.size()) + " elements (the first one has " + std::to_string(size()) +
               "), give vectors of the same size";
    return {};
  }
  sf_data data() override { return {list_.data(), x_().data(), results_.data(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }
  const Value& result() const { return results_; }

 private:
  std::shared_ptr<HeldOp> held_ = std::make_shared<HeldOp>(typename HeldOp::Operator{});
  MemberOptions options_;
  Source<const T> x_;
  Vectors<T> ys_;
  std::vector<const void*> list_;
  sf_arrays arrays_ = arrays_of_nothing();
  Value results_;
};

/// An array, whose elements stay where they are.
template <class T, class HeldOp>
class MemberOfArray final : public BundleMember {
 public:
  using Value = std::vector<typename HeldOp::Result>;

  template <class Op>
  MemberOfArray(const Op& op, const Array<T>& x, const MaybeArray& factors, const Axes& axes,
                const MemberOptions& options)
      : options_(options), made_(std::make_shared<CallOfArrays<T, HeldOp>>(x, factors, op, axes, options_)) {}

  sf_call call() override { return *made_->call(); }
  std::uint64_t size() const override { return 0; }  // never another one
  std::string fault() const override { return made_->fault(); }
  sf_data data() override { return {nullptr, nullptr, made_->results(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return {made_, &made_->holder()}; }
  const Value& result() const { return made_->values(); }

 private:
  const MemberOptions options_;  // to which the call refers
  std::shared_ptr<CallOfArrays<T, HeldOp>> made_;
};

/// MPI's shape, in place.
template <class T, class HeldOp>
class MemberOfVectors final : public BundleMember {
 public:
  template <class Op>
  MemberOfVectors(const Op& op, Source<T> buffer, const MemberOptions& options)
      : held_(std::make_shared<HeldOp>(op)), options_(options), buffer_(std::move(buffer)) {}

  sf_call call() override { return call_of_vectors(*held_, size(), options_); }
  std::uint64_t size() const override { return buffer_().size(); }
  sf_data data() override { return {buffer_().data(), nullptr, buffer_().data(), nullptr, nullptr}; }
  std::shared_ptr<OperatorHolder> holder() override { return held_; }

 private:
  std::shared_ptr<HeldOp> held_;
  MemberOptions options_;
  Source<T> buffer_;
};

}  // namespace steadfold::detail

#endif
