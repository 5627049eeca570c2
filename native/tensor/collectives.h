/**
 * Operations between the processes of a mesh, as libtorch's dispatcher has them: namespace `viceroy`. `along`: the dimensions of the mesh, by
 * their places, that the processes of a group differ in; `ranks`: how many these are; `dim`: of the tensor. The controller records them like others; a
 * worker executes them in the order of its stream. What they promise stands in docs/explanation/tensors.md.
 */
#pragma once
#include <string>

#include "torch.h"

/** How elements of several processes become one. */
enum class Reduction { sum, avg, max, min, prod };

/** @throws c10::Error for names that there are not, and for types of elements that cannot be combined so */
Reduction ReductionOf(const std::string& name, c10::ScalarType dtype);
/** The size of each part of a dimension that is cut for all processes. @throws c10::Error if it cannot be cut */
int64_t PartOf(const at::Tensor& tensor, int64_t dim, int64_t ranks);
/** @throws c10::Error for a place that a group of so many processes has not */
void CheckIndex(int64_t index, int64_t ranks);
/** @throws c10::Error where it does not say for each of so many where to, or one would get more than one tensor */
void CheckPermutation(at::IntArrayRef to, int64_t ranks);
/** A dimension of the tensor, counted from the first. @throws c10::Error if there is none */
int64_t DimOf(const at::Tensor& tensor, int64_t dim);

/** Whether it is one of these operations. */
bool IsCollective(const std::string& name);

// Through the dispatcher: recorded, or executed.
at::Tensor CallAllReduce(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, const std::string& reduction);
at::Tensor CallAllGather(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t dim);
at::Tensor CallReduceScatter(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, const std::string& reduction, int64_t dim);
at::Tensor CallAllToAll(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t dim);
/** All have what the one at `index` of the group has. */
at::Tensor CallBroadcast(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t index);
/** The one at `index` has the sum, others zeros: the gradient of a broadcast. */
at::Tensor CallReduceTo(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t index);
/** What the one at `i` has goes to the one at `to[i]`, to nobody for -1; who gets nothing has zeros. */
at::Tensor CallPermute(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, at::IntArrayRef to);
