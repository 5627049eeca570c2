/**
 * Gradients of the collective operations (collectives/operations.h). The gradient of an element is that of the sum of
 * the results of all processes of the group. Each gradient is computed by collective operations, too, and can be
 * differentiated again.
 */
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "collectives/operations.h"

namespace {

using at::IntArrayRef;
using c10::string_view;
using torch::autograd::AutogradContext;
using Gradients = torch::autograd::variable_list;
using Dimensions = std::vector<int64_t>;

Dimensions DimensionsIn(AutogradContext* context) {
  return context->saved_data["along"].toIntVector();
}

int64_t NumberIn(AutogradContext* context, const char* name) {
  return context->saved_data[name].toInt();
}

void SaveGroup(AutogradContext* context, IntArrayRef along, int64_t ranks) {
  context->saved_data["along"] = along.vec();
  context->saved_data["ranks"] = ranks;
}

/**
 * Returns the gradient of an element that was reduced with the elements of other processes by max, min or prod.
 * @param x the element of this process
 * @param y the result of the reduction
 * @param gradient the gradient of `y`
 */
at::Tensor SharedGradient(const std::string& reduction, const at::Tensor& x, const at::Tensor& y,
                          const at::Tensor& gradient, const Dimensions& along, int64_t ranks) {
  if (reduction != "prod") {
    // Equal elements share the gradient equally.
    const at::Tensor chosen = x.eq(y).to(gradient.scalar_type());
    return gradient.mul(chosen).div(CallAllReduce(chosen, along, ranks, "sum"));
  }
  // The factor is the product of the elements of all other processes. If exactly one element is 0, only that element
  // has a gradient.
  const at::Tensor zero = x.eq(0);
  const at::Tensor zeros = CallAllReduce(zero.to(gradient.scalar_type()), along, ranks, "sum");
  const at::Tensor filled = at::where(zero, at::ones_like(x), x);
  const at::Tensor others = CallAllReduce(filled, along, ranks, "prod").div(filled);
  const at::Tensor matters = zeros.eq(0).logical_or(zeros.eq(1).logical_and(zero));
  return gradient.mul(at::where(matters, others, at::zeros_like(others)));
}

struct AllReduceGrad : torch::autograd::Function<AllReduceGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            std::string reduction) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["reduction"] = reduction;
    const at::Tensor result = CallAllReduce(self, along, ranks, reduction);
    if (reduction != "sum" && reduction != "avg") context->save_for_backward({self, result});
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Dimensions along = DimensionsIn(context);
    const int64_t ranks = NumberIn(context, "ranks");
    const std::string reduction = context->saved_data["reduction"].toStringRef();
    if (reduction == "sum" || reduction == "avg")
      return {CallAllReduce(gradients[0], along, ranks, reduction), {}, {}, {}};
    const auto saved = context->get_saved_variables();
    return {
        SharedGradient(reduction, saved[0], saved[1], CallAllReduce(gradients[0], along, ranks, "sum"), along, ranks),
        {},
        {},
        {}};
  }
};

struct AllGatherGrad : torch::autograd::Function<AllGatherGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["dim"] = dim;
    return CallAllGather(self, along, ranks, dim);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallReduceScatter(gradients[0], DimensionsIn(context), NumberIn(context, "ranks"), "sum",
                              NumberIn(context, "dim")),
            {},
            {},
            {}};
  }
};

struct ReduceScatterGrad : torch::autograd::Function<ReduceScatterGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            std::string reduction, int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["reduction"] = reduction;
    context->saved_data["dim"] = dim;
    const at::Tensor result = CallReduceScatter(self, along, ranks, reduction, dim);
    if (reduction != "sum" && reduction != "avg") context->save_for_backward({self, result});
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Dimensions along = DimensionsIn(context);
    const int64_t ranks = NumberIn(context, "ranks");
    const int64_t dim = NumberIn(context, "dim");
    const std::string reduction = context->saved_data["reduction"].toStringRef();
    const at::Tensor whole = CallAllGather(gradients[0], along, ranks, dim);
    if (reduction == "sum") return {whole, {}, {}, {}, {}};
    if (reduction == "avg") return {whole.div(static_cast<double>(ranks)), {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    return {SharedGradient(reduction, saved[0], CallAllGather(saved[1], along, ranks, dim), whole, along, ranks),
            {},
            {},
            {},
            {}};
  }
};

struct AllToAllGrad : torch::autograd::Function<AllToAllGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["dim"] = dim;
    return CallAllToAll(self, along, ranks, dim);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallAllToAll(gradients[0], DimensionsIn(context), NumberIn(context, "ranks"), NumberIn(context, "dim")),
            {},
            {},
            {}};
  }
};

struct BroadcastGrad : torch::autograd::Function<BroadcastGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            int64_t index) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["index"] = index;
    return CallBroadcast(self, along, ranks, index);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallReduceTo(gradients[0], DimensionsIn(context), NumberIn(context, "ranks"), NumberIn(context, "index")),
            {},
            {},
            {}};
  }
};

struct ReduceToGrad : torch::autograd::Function<ReduceToGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            int64_t index) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    context->saved_data["index"] = index;
    return CallReduceTo(self, along, ranks, index);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallBroadcast(gradients[0], DimensionsIn(context), NumberIn(context, "ranks"), NumberIn(context, "index")),
            {},
            {},
            {}};
  }
};

struct PermuteGrad : torch::autograd::Function<PermuteGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Dimensions along, int64_t ranks,
                            Dimensions to) {
    const at::AutoDispatchBelowADInplaceOrView below;
    SaveGroup(context, along, ranks);
    Dimensions back(to.size(), -1);
    for (size_t i = 0; i < to.size(); i++) {
      if (to[i] >= 0 && to[i] < static_cast<int64_t>(back.size()))
        back[static_cast<size_t>(to[i])] = static_cast<int64_t>(i);
    }
    context->saved_data["back"] = back;
    return CallPermute(self, along, ranks, to);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Dimensions back = context->saved_data["back"].toIntVector();
    return {CallPermute(gradients[0], DimensionsIn(context), NumberIn(context, "ranks"), back), {}, {}, {}};
  }
};

at::Tensor DifferentiableAllReduce(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view reduction) {
  return AllReduceGrad::apply(self, along.vec(), ranks, std::string(reduction));
}
at::Tensor DifferentiableAllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  return AllGatherGrad::apply(self, along.vec(), ranks, dim);
}
at::Tensor DifferentiableReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view reduction,
                                       int64_t dim) {
  return ReduceScatterGrad::apply(self, along.vec(), ranks, std::string(reduction), dim);
}
at::Tensor DifferentiableAllToAll(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  return AllToAllGrad::apply(self, along.vec(), ranks, dim);
}
at::Tensor DifferentiableBroadcast(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  return BroadcastGrad::apply(self, along.vec(), ranks, index);
}
at::Tensor DifferentiableReduceTo(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t index) {
  return ReduceToGrad::apply(self, along.vec(), ranks, index);
}
at::Tensor DifferentiablePermute(const at::Tensor& self, IntArrayRef along, int64_t ranks, IntArrayRef to) {
  return PermuteGrad::apply(self, along.vec(), ranks, to.vec());
}

}  // namespace

TORCH_LIBRARY_IMPL(viceroy, Autograd, library) {
  library.impl("all_reduce", &DifferentiableAllReduce);
  library.impl("all_gather", &DifferentiableAllGather);
  library.impl("reduce_scatter", &DifferentiableReduceScatter);
  library.impl("all_to_all", &DifferentiableAllToAll);
  library.impl("broadcast", &DifferentiableBroadcast);
  library.impl("reduce_to", &DifferentiableReduceTo);
  library.impl("permute", &DifferentiablePermute);
}
