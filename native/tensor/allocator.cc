#include "allocator.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "torch.h"

namespace {

/** Up to here blocks are of malloc's; larger ones are mapped, so that giving them back is certain to free them. */
constexpr size_t kMapped = 64 << 10;
/** Larger blocks get huge pages, where the system has them. */
constexpr size_t kHuge = 2 << 20;
/** Cache lines, and the widest vectors. */
constexpr size_t kAlignment = 64;
/** What is kept at most, in bytes. */
constexpr size_t kKept = size_t{1} << 30;
/** No machine has as much: what is larger is a mistake, and its size would overflow. */
constexpr size_t kLimit = size_t{1} << 46;

/** Sizes that blocks have: multiples of 64 bytes, and above 64 KiB eight steps for each doubling. */
size_t BlockSize(size_t bytes) {
  size_t step = kAlignment;
  if (bytes > kMapped) {
    for (step = kMapped / 8; step * 16 <= bytes;) step *= 2;
  }
  return (bytes + step - 1) / step * step;
}

class Cache {
 public:
  void* Take(size_t bytes) {
    TORCH_CHECK(bytes <= kLimit, "cannot allocate ", bytes, " bytes for a tensor: out of memory");
    const size_t size = BlockSize(bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    void* block = Kept(size);
    if (block == nullptr) block = Fresh(size);
    if (block == nullptr) {
      FreeAll();
      block = Fresh(size);
    }
    TORCH_CHECK(block != nullptr, "cannot allocate ", size, " bytes for a tensor: out of memory");
    sizes_.emplace(block, size);
    counts_.live += size;
    if (counts_.live > counts_.peak) counts_.peak = counts_.live;
    return block;
  }

  void Give(void* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(block);
    if (found == sizes_.end()) return;
    const size_t size = found->second;
    sizes_.erase(found);
    counts_.live -= size;
    if (counts_.cached + size > kKept) {
      Free(block, size);
    } else {
      kept_[size].push_back(block);
      counts_.cached += size;
    }
  }

  void Empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    FreeAll();
  }

  AllocatorCounts counts() {
    std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  void* Kept(size_t size) {
    const auto found = kept_.find(size);
    if (found == kept_.end() || found->second.empty()) return nullptr;
    void* block = found->second.back();
    found->second.pop_back();
    counts_.cached -= size;
    return block;
  }

  static void* Fresh(size_t size) {
    if (size <= kMapped) return std::aligned_alloc(kAlignment, size);
    void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    if (size >= kHuge) madvise(block, size, MADV_HUGEPAGE);
    return block;
  }

  static void Free(void* block, size_t size) {
    if (size <= kMapped) {
      std::free(block);
    } else {
      munmap(block, size);
    }
  }

  void FreeAll() {
    for (auto& [size, blocks] : kept_) {
      for (void* block : blocks) Free(block, size);
    }
    kept_.clear();
    counts_.cached = 0;
  }

  std::mutex mutex_;
  /** Blocks that are kept, by their size. */
  std::unordered_map<size_t, std::vector<void*>> kept_;
  /** Of the blocks that tensors have. */
  std::unordered_map<void*, size_t> sizes_;
  AllocatorCounts counts_{0, 0, 0};
};

/** Never destroyed: tensors outlive the end of `main`. */
Cache& TheCache() {
  static auto cache = new Cache;
  return *cache;
}

void GiveBack(void* block) {
  TheCache().Give(block);
}

class CachingAllocator final : public c10::Allocator {
 public:
#if VICEROY_TORCH >= 203
  c10::DataPtr allocate(size_t bytes) override { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
#else
  c10::DataPtr allocate(size_t bytes) const override { return Allocate(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return GiveBack; }

 private:
  static c10::DataPtr Allocate(size_t bytes) {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, cpu};
    void* block = TheCache().Take(bytes);
    return {block, block, GiveBack, cpu};
  }
};

}  // namespace

void UseCachingAllocator() {
  static CachingAllocator* const allocator = [] {
    auto made = new CachingAllocator;
    c10::SetCPUAllocator(made, 255);
    return made;
  }();
  static_cast<void>(allocator);
}

AllocatorCounts CountAllocations() {
  return TheCache().counts();
}

void EmptyCache() {
  TheCache().Empty();
}
