/**
 * The collective operations as operations of libtorch's dispatcher, in the namespace `viceroy`. `along` contains the
 * indices of the dimensions of the mesh along which the group extends, `ranks` is the size of the group, and `dim` is a
 * dimension of the tensor. The controller records these operations like all others, and a worker executes them in the
 * order of its stream. docs/explanation/tensors.md describes their guarantees.
 */
#pragma once
#include <string>

#include "libtorch/torch.h"

/** The functions that reduce the elements of several processes to one. */
enum class Reduction { sum, avg, max, min, prod };

/**
 * Returns the reduction with a name.
 * @throws c10::Error if it does not exist, or does not support the type of the elements
 */
Reduction ReductionOf(const std::string& name, c10::ScalarType dtype);
/**
 * Returns the size of each part of a dimension that is split among all processes.
 * @throws c10::Error if the dimension cannot be split equally
 */
int64_t PartSize(const at::Tensor& tensor, int64_t dim, int64_t ranks);
/**
 * Checks an index in a group.
 * @throws c10::Error if the index is out of range
 */
void CheckIndex(int64_t index, int64_t ranks);
/**
 * Checks the destinations of `permute`.
 * @throws c10::Error if there is not one destination for each process, or two processes have the same destination
 */
void CheckPermutation(at::IntArrayRef to, int64_t ranks);
/**
 * Returns a dimension as a nonnegative index.
 * @throws c10::Error if the tensor has no such dimension
 */
int64_t DimOf(const at::Tensor& tensor, int64_t dim);

/** Returns whether an operation is a collective operation. */
bool IsCollective(const std::string& name);

// These functions call the operations through the dispatcher, which records or executes them.
at::Tensor CallAllReduce(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, const std::string& reduction);
at::Tensor CallAllGather(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t dim);
at::Tensor CallReduceScatter(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, const std::string& reduction,
                             int64_t dim);
at::Tensor CallAllToAll(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t dim);
/** Copies the tensor of process `index` of the group to all processes. */
at::Tensor CallBroadcast(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t index);
/** Returns the sum on process `index` of the group, and zeros on the others. This is the gradient of a broadcast. */
at::Tensor CallReduceTo(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, int64_t index);
/**
 * Sends the tensor of each process `i` of the group to process `to[i]`, or to none if `to[i]` is -1. A process that
 * receives nothing returns zeros.
 */
at::Tensor CallPermute(const at::Tensor& self, at::IntArrayRef along, int64_t ranks, at::IntArrayRef to);
