/**
 * Gradients for operations whose formulas in libtorch read elements, for example to find zeros or NaN. Recorded tensors
 * have no elements in this process. The formulas here need no elements, and give the same results. They are registered
 * for recorded tensors only (AutogradPrivateUse1), and consist of operations that can be differentiated again.
 */
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cumprod.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/index_fill.h>
#include <ATen/ops/masked_scatter.h>
#include <ATen/ops/max.h>
#include <ATen/ops/median.h>
#include <ATen/ops/min.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/prod.h>
#include <ATen/ops/trace.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "libtorch/torch.h"

namespace {

using torch::autograd::AutogradContext;
using Gradients = torch::autograd::variable_list;
using Dtype = Optional<at::ScalarType>;

/** Returns the sum of each element and all elements after it. */
at::Tensor SumOnwards(const at::Tensor& tensor, int64_t dim) {
  return tensor.flip(dim).cumsum(dim).flip(dim);
}

/**
 * Returns, for each element, the product of all other elements along a dimension: the product of the elements before it
 * times the product of the elements after it.
 */
at::Tensor ProductsOfOthers(const at::Tensor& x, int64_t dim) {
  const int64_t size = x.size(dim);
  if (size < 2) return at::ones_like(x);
  const at::Tensor one = at::ones_like(x.narrow(dim, 0, 1));
  const at::Tensor before = at::cat({one, x.narrow(dim, 0, size - 1)}, dim).cumprod(dim);
  const at::Tensor behind = at::cat({one, x.narrow(dim, 1, size - 1).flip(dim)}, dim).cumprod(dim).flip(dim);
  return before.mul(behind);
}

/**
 * The gradient of max, min, median and nanmedian. If several elements are equal to the result, they share the gradient
 * equally. If the result is NaN, all elements that are NaN share it.
 */
template <at::Tensor (*Extreme)(const at::Tensor&)>
struct ExtremeGrad : torch::autograd::Function<ExtremeGrad<Extreme>> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor result = Extreme(self);
    context->save_for_backward({self, result});
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor chosen = saved[0].eq(saved[1]).logical_or(saved[0].isnan().logical_and(saved[1].isnan()));
    const at::Tensor part = gradients[0].div(chosen.sum());
    return {at::where(chosen, part, at::zeros_like(part))};
  }
};

struct ProdGrad : torch::autograd::Function<ProdGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dtype dtype) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({self});
    return at::prod(self, dtype);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const at::Tensor self = context->get_saved_variables()[0].to(gradients[0].scalar_type());
    const at::Tensor others = ProductsOfOthers(self.reshape({-1}), 0).reshape(self.sizes());
    return {gradients[0].mul(others.conj()), {}};
  }
};

struct ProdDimGrad : torch::autograd::Function<ProdDimGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, int64_t dim, bool keepdim, Dtype dtype) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({self});
    context->saved_data["dim"] = dim;
    context->saved_data["keepdim"] = keepdim;
    return at::prod(self, dim, keepdim, dtype);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const at::Tensor self = context->get_saved_variables()[0].to(gradients[0].scalar_type());
    if (self.dim() == 0) return {gradients[0], {}, {}, {}};
    const int64_t dim = context->saved_data["dim"].toInt();
    const at::Tensor gradient = context->saved_data["keepdim"].toBool() ? gradients[0] : gradients[0].unsqueeze(dim);
    return {gradient.mul(ProductsOfOthers(self, dim).conj()), {}, {}, {}};
  }
};

/**
 * Computes the gradient of `cumprod` in time linear in the size of the dimension. The gradient of an element that is
 * not zero is computed by a division. The gradient of the first zero is computed from the products without it. The
 * gradient of an element that is a later zero is zero.
 */
at::Tensor CumprodGradient(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& result, int64_t dim) {
  const at::Tensor zero = x.eq(0);
  const at::Tensor first = zero.logical_and(zero.cumsum(dim).eq(1));
  const at::Tensor without = at::where(first, at::ones_like(x), x).cumprod(dim);
  const at::Tensor ofFirst = SumOnwards(gradient.mul(without.conj()), dim);
  const at::Tensor ofOthers = SumOnwards(gradient.mul(result.conj()), dim).div(x.conj());
  return at::where(zero, at::where(first, ofFirst, at::zeros_like(ofFirst)), ofOthers);
}

/**
 * Computes the gradient of `cumprod` from the matrix of all products that leave out one element. This form can be
 * differentiated again, also where elements are zero.
 */
at::Tensor DifferentiableCumprodGradient(const at::Tensor& gradient, const at::Tensor& x, int64_t dim) {
  const at::Tensor last = x.transpose(dim, -1);
  const at::Tensor itself = at::eye(x.size(dim), x.options().dtype(at::kFloat)).to(at::kBool);
  const at::Tensor products = at::where(itself, at::ones({}, x.options()), last.unsqueeze(-2)).cumprod(-1).triu();
  return products.conj().mul(gradient.transpose(dim, -1).unsqueeze(-2)).sum(-1).transpose(dim, -1);
}

struct CumprodGrad : torch::autograd::Function<CumprodGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, int64_t dim, Dtype dtype) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const at::Tensor result = at::cumprod(self, dim, dtype);
    context->save_for_backward({self, result});
    context->saved_data["dim"] = dim;
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor self = saved[0].to(gradients[0].scalar_type());
    const int64_t dim = context->saved_data["dim"].toInt();
    if (self.dim() == 0 || self.numel() == 0) return {gradients[0], {}, {}};
    if (c10::GradMode::is_enabled()) return {DifferentiableCumprodGradient(gradients[0], self, dim), {}, {}};
    return {CumprodGradient(gradients[0], self, saved[1], dim), {}, {}};
  }
};

/**
 * The n-th position that the mask selects receives the n-th element of the source. The gradient flows back to that
 * element.
 */
struct MaskedScatterGrad : torch::autograd::Function<MaskedScatterGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, const at::Tensor& mask,
                            const at::Tensor& source) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({mask});
    context->saved_data["sizes"] = source.sizes().vec();
    return at::masked_scatter(self, mask, source);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const at::Tensor mask = context->get_saved_variables()[0].expand_as(gradients[0]);
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const at::Tensor nothing = at::zeros_like(gradients[0]);
    const at::Tensor chosen = at::where(mask, gradients[0], nothing).reshape({-1});
    const at::Tensor places = mask.reshape({-1}).cumsum(0).sub(1).clamp_min(0);
    const at::Tensor source = at::zeros(sizes, chosen.options()).reshape({-1});
    const at::Tensor ofSource = source.numel() == 0 ? source : source.index_add(0, places, chosen);
    return {at::where(mask, nothing, gradients[0]), {}, ofSource.reshape(sizes)};
  }
};

/** Fills the positions of an index along a dimension with one number. */
struct IndexFillGrad : torch::autograd::Function<IndexFillGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, int64_t dim, const at::Tensor& index,
                            const at::Tensor& value) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({index});
    context->saved_data["dim"] = dim;
    return at::index_fill(self, dim, index, value);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const at::Tensor index = context->get_saved_variables()[0];
    const int64_t dim = context->saved_data["dim"].toInt();
    // The index may contain a position twice.
    const at::Tensor filled =
        at::zeros_like(gradients[0].detach(), gradients[0].options().dtype(at::kBool)).index_fill(dim, index, 1);
    const at::Tensor nothing = at::zeros_like(gradients[0]);
    return {at::where(filled, nothing, gradients[0]), {}, {}, at::where(filled, gradients[0], nothing).sum()};
  }
};

struct TraceGrad : torch::autograd::Function<TraceGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->saved_data["sizes"] = self.sizes().vec();
    return at::trace(self);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const auto sizes = context->saved_data["sizes"].toIntVector();
    return {at::eye(sizes[0], sizes[1], gradients[0].options()).mul(gradients[0])};
  }
};

template <at::Tensor (*Extreme)(const at::Tensor&)>
at::Tensor DifferentiableExtreme(const at::Tensor& self) {
  return ExtremeGrad<Extreme>::apply(self);
}
at::Tensor DifferentiableProd(const at::Tensor& self, Dtype dtype) {
  return ProdGrad::apply(self, dtype);
}
at::Tensor DifferentiableProdDim(const at::Tensor& self, int64_t dim, bool keepdim, Dtype dtype) {
  return ProdDimGrad::apply(self, dim, keepdim, dtype);
}
at::Tensor DifferentiableCumprod(const at::Tensor& self, int64_t dim, Dtype dtype) {
  return CumprodGrad::apply(self, dim, dtype);
}
at::Tensor DifferentiableMaskedScatter(const at::Tensor& self, const at::Tensor& mask, const at::Tensor& source) {
  return MaskedScatterGrad::apply(self, mask, source);
}
at::Tensor DifferentiableIndexFill(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                                   const at::Tensor& value) {
  return IndexFillGrad::apply(self, dim, index, value);
}
at::Tensor DifferentiableTrace(const at::Tensor& self) {
  return TraceGrad::apply(self);
}

#if VICEROY_TORCH < 200
/**
 * Implements `repeat_interleave` like later versions of libtorch. The number of repeats is known, so no element is
 * read.
 */
at::Tensor RepeatInterleave(const at::Tensor& self, int64_t repeats, Optional<int64_t> dim, Optional<int64_t> size) {
  TORCH_CHECK(repeats >= 0, "repeat_interleave expects at least 0 repeats, got ", repeats);
  const at::Tensor whole = dim ? self : self.reshape({-1});
  const int64_t at = c10::maybe_wrap_dim(dim.value_or(0), whole.dim());
  std::vector<int64_t> sizes = whole.sizes().vec();
  TORCH_CHECK(!sizes.empty(), "repeat_interleave along a dimension expects a tensor with dimensions");
  auto& changed = sizes[static_cast<size_t>(at)];
  TORCH_CHECK(!size || *size == changed * repeats, "output_size is ", *size, ", and the result has ",
              changed * repeats);
  changed *= repeats;
  std::vector<int64_t> times = whole.sizes().vec();
  times.insert(times.begin() + at + 1, repeats);
  return whole.unsqueeze(at + 1).expand(times).clone().reshape(sizes);
}
#endif

#if VICEROY_TORCH >= 200
// Since 2.0, libtorch computes recurrent networks on PrivateUse1 devices by two operations that only CUDA implements.
// These functions decompose them above autograd, as libtorch does for CPUs.
using Bias = const Optional<at::Tensor>&;

at::Tensor WithBias(const at::Tensor& gates, Bias bias) {
  return bias && bias->defined() ? gates.add(*bias) : gates;
}

/** @returns the output, the state, and an empty tensor instead of the workspace for the gradient */
std::tuple<at::Tensor, at::Tensor, at::Tensor> LstmCell(const at::Tensor& input, const at::Tensor& hidden,
                                                        const at::Tensor& state, Bias inputBias, Bias hiddenBias) {
  const auto gates = WithBias(input, inputBias).add(WithBias(hidden, hiddenBias)).chunk(4, 1);
  const at::Tensor next = gates[1].sigmoid().mul(state).add(gates[0].sigmoid().mul(gates[2].tanh()));
  return {gates[3].sigmoid().mul(next.tanh()), next, at::zeros({0}, input.options())};
}

std::tuple<at::Tensor, at::Tensor> GruCell(const at::Tensor& input, const at::Tensor& hidden, const at::Tensor& state,
                                           Bias inputBias, Bias hiddenBias) {
  const auto in = WithBias(input, inputBias).chunk(3, 1);
  const auto own = WithBias(hidden, hiddenBias).chunk(3, 1);
  const at::Tensor fresh = in[2].add(in[0].add(own[0]).sigmoid().mul(own[2])).tanh();
  return {state.sub(fresh).mul(in[1].add(own[1]).sigmoid()).add(fresh), at::zeros({0}, input.options())};
}
#endif

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  library.impl("max", &DifferentiableExtreme<at::max>);
  library.impl("min", &DifferentiableExtreme<at::min>);
  library.impl("median", &DifferentiableExtreme<at::median>);
  library.impl("nanmedian", &DifferentiableExtreme<at::nanmedian>);
  library.impl("prod", &DifferentiableProd);
  library.impl("prod.dim_int", &DifferentiableProdDim);
  library.impl("cumprod", &DifferentiableCumprod);
  library.impl("masked_scatter", &DifferentiableMaskedScatter);
  library.impl("index_fill.int_Tensor", &DifferentiableIndexFill);
  library.impl("trace", &DifferentiableTrace);
#if VICEROY_TORCH < 200
  library.impl("repeat_interleave.self_int", &RepeatInterleave);
#else
  library.impl("_thnn_fused_lstm_cell", &LstmCell);
  library.impl("_thnn_fused_gru_cell", &GruCell);
#endif
}
