#include "stream.h"

#include <utility>

Stream::Stream(std::shared_ptr<Loop> loop, uint64_t rank, int threads, c10::Device device, bool refuse_nan)
    : device_(device), loop_(std::move(loop)) {
  thread_ = std::thread([this, rank, threads, refuse_nan] { Run(rank, threads, refuse_nan); });
}

Stream::~Stream() {
  Close();
}

void Stream::Push(Job job) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!stopped_) {
      jobs_.push_back(std::move(job));
      changed_.notify_one();
      return;
    }
  }
  job(nullptr);
}

void Stream::Stop() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    // Others may keep it waiting.
    if (lines_) lines_->Interrupt();
  }
  changed_.notify_one();
}

void Stream::Use(std::shared_ptr<Lines> lines) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (lines_) throw std::runtime_error("it has lines already");
  lines_ = std::move(lines);
}

void Stream::Close() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Stream::Run(uint64_t rank, int threads, bool refuse_nan) {
  at::set_num_threads(threads);
  UseDevice(device_);
  // The controller has had the gradients; here there is nothing but elements.
  const at::AutoDispatchBelowADInplaceOrView below;
  Executor executor(rank, device_, refuse_nan);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      lines_.reset();
      return;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    const bool stopped = stopped_;
    lock.unlock();
    job(stopped ? nullptr : &executor);
    // What it holds ends here, and not while others wait for the lock.
    job = nullptr;
    lock.lock();
  }
}
