#include "executor/stream.h"

#include <utility>

Stream::Stream(uint64_t rank, int threads, c10::Device device, bool reject_nan) : device_(device) {
  thread_ = std::thread([this, rank, threads, reject_nan] { Run(rank, threads, reject_nan); });
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
    // The thread may be waiting for other processes.
    if (communicator_) communicator_->Interrupt();
  }
  changed_.notify_one();
}

void Stream::SetCommunicator(std::shared_ptr<Communicator> communicator) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (communicator_) throw std::runtime_error("the stream has one already");
  communicator_ = std::move(communicator);
}

void Stream::Close() {
  Stop();
  if (thread_.joinable()) thread_.join();
}

void Stream::Run(uint64_t rank, int threads, bool reject_nan) {
  at::set_num_threads(threads);
  UseDevice(device_);
  // Workers compute no gradients by themselves; the controller has recorded the operations of autograd.
  const at::AutoDispatchBelowADInplaceOrView below;
  Executor executor(rank, device_, reject_nan);
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
    if (jobs_.empty()) {
      communicator_.reset();
      return;
    }
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    const bool stopped = stopped_;
    lock.unlock();
    job(stopped ? nullptr : &executor);
    // Destroys what the job holds while the lock is released.
    job = nullptr;
    lock.lock();
  }
}
