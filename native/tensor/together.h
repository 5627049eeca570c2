/**
 * What processes of a group do at the same time. Before elements move, each tells the others what it is about to do and whether it can: so who
 * has failed before keeps nobody waiting, and all of them have the same failure.
 */
#pragma once
#include <exception>
#include <functional>

#include "failure.h"
#include "group.h"
#include "lines.h"
#include "torch.h"

class Nccl;

/** A collective operation that is being executed, by the thread of a stream. */
struct Collective {
  Lines* lines;
  /** What moves elements of its tensors; null: lines. */
  Nccl* nccl;
  /** Of the mesh; empty before its processes have lines. */
  const std::vector<size_t>& sizes;
  const std::string& op;
  const std::string& site;
};

/** As long as it lives, kernels of this thread know what they are executed for. */
class Executing {
 public:
  explicit Executing(const Collective& collective);
  ~Executing();
  Executing(const Executing&) = delete;
  Executing& operator=(const Executing&) = delete;
};

/** All processes of a group have failed, with one failure. */
class FailedTogether : public std::exception {
 public:
  explicit FailedTogether(Failed failed) : failure(std::move(failed)) {}
  const char* what() const noexcept override { return failure->message.c_str(); }

  const Failed failure;
};

class Together {
 public:
  /** @param ranks how many the controller takes the group for. @throws std::runtime_error */
  Together(c10::IntArrayRef along, int64_t ranks);

  const Group& group() const { return group_; }
  Lines& lines() const { return lines_; }
  /** Null: elements of tensors go by lines. */
  Nccl* nccl() const { return collective_.nccl; }
  /** The others get what the first process of the group has there. @throws std::runtime_error when one is lost */
  void TellFirst(void* data, size_t bytes) const;
  /**
   * Prepares, and agrees with the others that everybody has.
   * @param signature is the same for all when they do the same
   * @throws FailedTogether when one of them has failed; std::runtime_error when one is lost
   */
  void Begin(uint64_t signature, const std::function<void()>& prepare) const;

 private:
  const Collective& collective_;
  Lines& lines_;
  Group group_;
};

/** Takes part where an argument has failed. @returns the failure that all have then */
Failed FailTogether(const Collective& collective, const Failed& failed, const std::vector<int64_t>& along);
