/**
 * Gradients of operations between processes (collectives.h): those of the sum of what all processes of a group compute. What one gives to the
 * others comes back from them, so each is an operation between processes itself, and can be differentiated again.
 */
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "collectives.h"

namespace {

using at::IntArrayRef;
using c10::string_view;
using torch::autograd::AutogradContext;
using Gradients = torch::autograd::variable_list;
using Places = std::vector<int64_t>;

Places PlacesIn(AutogradContext* context) {
  return context->saved_data["along"].toIntVector();
}

int64_t NumberIn(AutogradContext* context, const char* name) {
  return context->saved_data[name].toInt();
}

void Keep(AutogradContext* context, IntArrayRef along, int64_t ranks) {
  context->saved_data["along"] = along.vec();
  context->saved_data["ranks"] = ranks;
}

/**
 * The part of a gradient that belongs to an element which was combined with others by max, min or prod.
 * @param y what was made of all, and `gradient` its own, where `x` is
 */
at::Tensor Share(const std::string& reduction, const at::Tensor& x, const at::Tensor& y, const at::Tensor& gradient, const Places& along, int64_t ranks) {
  if (reduction != "prod") {
    // Those that are equal have equal parts.
    const at::Tensor chosen = x.eq(y).to(gradient.scalar_type());
    return gradient.mul(chosen).div(CallAllReduce(chosen, along, ranks, "sum"));
  }
  // What all others have made of theirs: where one has 0, its own is the only one that matters.
  const at::Tensor zero = x.eq(0);
  const at::Tensor zeros = CallAllReduce(zero.to(gradient.scalar_type()), along, ranks, "sum");
  const at::Tensor filled = at::where(zero, at::ones_like(x), x);
  const at::Tensor others = CallAllReduce(filled, along, ranks, "prod").div(filled);
  const at::Tensor matters = zeros.eq(0).logical_or(zeros.eq(1).logical_and(zero));
  return gradient.mul(at::where(matters, others, at::zeros_like(others)));
}

struct AllReduceGrad : torch::autograd::Function<AllReduceGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, std::string reduction) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["reduction"] = reduction;
    const at::Tensor result = CallAllReduce(self, along, ranks, reduction);
    if (reduction != "sum" && reduction != "avg") context->save_for_backward({self, result});
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Places along = PlacesIn(context);
    const int64_t ranks = NumberIn(context, "ranks");
    const std::string reduction = context->saved_data["reduction"].toStringRef();
    if (reduction == "sum" || reduction == "avg") return {CallAllReduce(gradients[0], along, ranks, reduction), {}, {}, {}};
    const auto saved = context->get_saved_variables();
    return {Share(reduction, saved[0], saved[1], CallAllReduce(gradients[0], along, ranks, "sum"), along, ranks), {}, {}, {}};
  }
};

struct AllGatherGrad : torch::autograd::Function<AllGatherGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["dim"] = dim;
    return CallAllGather(self, along, ranks, dim);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallReduceScatter(gradients[0], PlacesIn(context), NumberIn(context, "ranks"), "sum", NumberIn(context, "dim")), {}, {}, {}};
  }
};

struct ReduceScatterGrad : torch::autograd::Function<ReduceScatterGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, std::string reduction, int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["reduction"] = reduction;
    context->saved_data["dim"] = dim;
    const at::Tensor result = CallReduceScatter(self, along, ranks, reduction, dim);
    if (reduction != "sum" && reduction != "avg") context->save_for_backward({self, result});
    return result;
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Places along = PlacesIn(context);
    const int64_t ranks = NumberIn(context, "ranks");
    const int64_t dim = NumberIn(context, "dim");
    const std::string reduction = context->saved_data["reduction"].toStringRef();
    const at::Tensor whole = CallAllGather(gradients[0], along, ranks, dim);
    if (reduction == "sum") return {whole, {}, {}, {}, {}};
    if (reduction == "avg") return {whole.div(static_cast<double>(ranks)), {}, {}, {}, {}};
    const auto saved = context->get_saved_variables();
    return {Share(reduction, saved[0], CallAllGather(saved[1], along, ranks, dim), whole, along, ranks), {}, {}, {}, {}};
  }
};

struct AllToAllGrad : torch::autograd::Function<AllToAllGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, int64_t dim) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["dim"] = dim;
    return CallAllToAll(self, along, ranks, dim);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallAllToAll(gradients[0], PlacesIn(context), NumberIn(context, "ranks"), NumberIn(context, "dim")), {}, {}, {}};
  }
};

struct BroadcastGrad : torch::autograd::Function<BroadcastGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, int64_t index) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["index"] = index;
    return CallBroadcast(self, along, ranks, index);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallReduceTo(gradients[0], PlacesIn(context), NumberIn(context, "ranks"), NumberIn(context, "index")), {}, {}, {}};
  }
};

struct ReduceToGrad : torch::autograd::Function<ReduceToGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, int64_t index) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    context->saved_data["index"] = index;
    return CallReduceTo(self, along, ranks, index);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    return {CallBroadcast(gradients[0], PlacesIn(context), NumberIn(context, "ranks"), NumberIn(context, "index")), {}, {}, {}};
  }
};

struct PermuteGrad : torch::autograd::Function<PermuteGrad> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self, Places along, int64_t ranks, Places to) {
    const at::AutoDispatchBelowADInplaceOrView below;
    Keep(context, along, ranks);
    Places back(to.size(), -1);
    for (size_t i = 0; i < to.size(); i++) {
      if (to[i] >= 0 && to[i] < static_cast<int64_t>(back.size())) back[static_cast<size_t>(to[i])] = static_cast<int64_t>(i);
    }
    context->saved_data["back"] = back;
    return CallPermute(self, along, ranks, to);
  }
  static Gradients backward(AutogradContext* context, Gradients gradients) {
    const Places back = context->saved_data["back"].toIntVector();
    return {CallPermute(gradients[0], PlacesIn(context), NumberIn(context, "ranks"), back), {}, {}, {}};
  }
};

at::Tensor DifferentiableAllReduce(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view reduction) {
  return AllReduceGrad::apply(self, along.vec(), ranks, std::string(reduction));
}
at::Tensor DifferentiableAllGather(const at::Tensor& self, IntArrayRef along, int64_t ranks, int64_t dim) {
  return AllGatherGrad::apply(self, along.vec(), ranks, dim);
}
at::Tensor DifferentiableReduceScatter(const at::Tensor& self, IntArrayRef along, int64_t ranks, string_view reduction, int64_t dim) {
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
