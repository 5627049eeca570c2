#include "libtorch/allocator.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "libtorch/torch.h"

namespace {

/**
 * Blocks up to this size come from malloc. Larger blocks are mapped, so that freeing them returns their memory to the
 * system.
 */
constexpr size_t kMapThreshold = 64 << 10;
/** Blocks from this size on get huge pages, if the system supports them. */
constexpr size_t kHugePageThreshold = 2 << 20;
/** The size of a cache line and of the widest vector registers. */
constexpr size_t kAlignment = 64;
/** The maximum number of bytes that are kept for later tensors. */
constexpr size_t kMaxCached = size_t{1} << 30;
/** The limit of the size of a tensor. Larger sizes are errors, and could overflow. */
constexpr size_t kMaxBlock = size_t{1} << 46;

/** Rounds a size up to a multiple of 64 bytes, or above 64 KiB to one of eight steps per power of two. */
size_t BlockSize(size_t bytes) {
  size_t step = kAlignment;
  if (bytes > kMapThreshold) {
    for (step = kMapThreshold / 8; step * 16 <= bytes;) step *= 2;
  }
  return (bytes + step - 1) / step * step;
}

class BlockCache {
 public:
  void* Take(size_t bytes) {
    TORCH_CHECK(bytes <= kMaxBlock, "cannot allocate ", bytes, " bytes for a tensor: out of memory");
    const size_t size = BlockSize(bytes);
    std::lock_guard<std::mutex> lock(mutex_);
    void* block = TakeCached(size);
    if (block == nullptr) block = AllocateBlock(size);
    if (block == nullptr) {
      FreeCached();
      block = AllocateBlock(size);
    }
    TORCH_CHECK(block != nullptr, "cannot allocate ", size, " bytes for a tensor: out of memory");
    sizes_.emplace(block, size);
    counts_.live += size;
    if (counts_.live > counts_.peak) counts_.peak = counts_.live;
    return block;
  }

  void Return(void* block) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = sizes_.find(block);
    if (found == sizes_.end()) return;
    const size_t size = found->second;
    sizes_.erase(found);
    counts_.live -= size;
    if (counts_.cached + size > kMaxCached) {
      FreeBlock(block, size);
    } else {
      free_blocks_[size].push_back(block);
      counts_.cached += size;
    }
  }

  void Empty() {
    std::lock_guard<std::mutex> lock(mutex_);
    FreeCached();
  }

  AllocatorCounts counts() {
    std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }

 private:
  void* TakeCached(size_t size) {
    const auto found = free_blocks_.find(size);
    if (found == free_blocks_.end() || found->second.empty()) return nullptr;
    void* block = found->second.back();
    found->second.pop_back();
    counts_.cached -= size;
    return block;
  }

  static void* AllocateBlock(size_t size) {
    if (size <= kMapThreshold) return std::aligned_alloc(kAlignment, size);
    void* block = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    if (size >= kHugePageThreshold) madvise(block, size, MADV_HUGEPAGE);
    return block;
  }

  static void FreeBlock(void* block, size_t size) {
    if (size <= kMapThreshold) {
      std::free(block);
    } else {
      munmap(block, size);
    }
  }

  void FreeCached() {
    for (auto& [size, blocks] : free_blocks_) {
      for (void* block : blocks) FreeBlock(block, size);
    }
    free_blocks_.clear();
    counts_.cached = 0;
  }

  std::mutex mutex_;
  /** The blocks that are kept, by their size. */
  std::unordered_map<size_t, std::vector<void*>> free_blocks_;
  /** The sizes of the blocks that are in use. */
  std::unordered_map<void*, size_t> sizes_;
  AllocatorCounts counts_{0, 0, 0};
};

/** Never destroyed, because tensors exist after the end of `main`. */
BlockCache& GlobalCache() {
  static auto cache = new BlockCache;
  return *cache;
}

void ReturnBlock(void* block) {
  GlobalCache().Return(block);
}

class CachingAllocator final : public c10::Allocator {
 public:
#if VICEROY_TORCH >= 203
  c10::DataPtr allocate(size_t bytes) override { return Allocate(bytes); }
  void copy_data(void* to, const void* from, size_t bytes) const override { std::memcpy(to, from, bytes); }
#else
  c10::DataPtr allocate(size_t bytes) const override { return Allocate(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return ReturnBlock; }

 private:
  static c10::DataPtr Allocate(size_t bytes) {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, cpu};
    void* block = GlobalCache().Take(bytes);
    return {block, block, ReturnBlock, cpu};
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
  return GlobalCache().counts();
}

void EmptyCache() {
  GlobalCache().Empty();
}
