#include "channel/spinner.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "channel/channel.h"
#include "node/environment.h"

namespace {

/** Durations in nanoseconds. */
constexpr uint64_t kSpinMicro = 1000;
constexpr uint64_t kSpinMilli = 1000 * kSpinMicro;
/** The time that a thread spins before it sleeps: about as long as a wake-up takes. */
constexpr uint64_t kSpinDuration = 50 * kSpinMicro;
/** The part of that time that is spent in one turn of the event loop, because other work waits for the turn. */
constexpr uint64_t kSpinPerTurn = 10 * kSpinMicro;
/**
 * One tenth (1 / kSpinShare) of the time may be spent on spinning in vain. Unused time is saved up to kSpinMostCredit.
 */
constexpr uint64_t kSpinShare = 10;
constexpr int64_t kSpinMaxCredit = static_cast<int64_t>(2 * kSpinMilli);
/**
 * The interval between checks whether other threads need the processor, and the time for which this thread then doesn't
 * spin.
 */
constexpr uint64_t kSpinCheckInterval = kSpinMilli;
constexpr uint64_t kSpinPause = 5 * kSpinMilli;

uint64_t SpinnerNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

inline void RelaxProcessor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

std::shared_ptr<Spinner> Spinner::Of(Napi::Env env) {
  auto environment = Environment::Of(env);
  if (!environment->spinner) environment->spinner = std::make_shared<Spinner>(env);
  return environment->spinner;
}

Spinner::Spinner(Napi::Env env) : env_(env), credit_(kSpinMaxCredit), creditedAt_(SpinnerNow()) {
  uv_loop_s* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) throw Napi::Error::New(env, "cannot wait: there is no event loop");
  handle_ = static_cast<uv_handle_s*>(calloc(1, uv_handle_size(kUvIdle)));
  if (handle_ == nullptr) throw std::bad_alloc();
  uv_idle_init(loop, handle_);
  uv_handle_set_data(handle_, this);
  uv_unref(handle_);
  napi_add_env_cleanup_hook(env, [](void* data) { static_cast<Spinner*>(data)->End(); }, this);
}

Spinner::~Spinner() {
  End();
}

void Spinner::End() {
  awake_.clear();
  if (handle_ == nullptr) return;
  uv_handle_set_data(handle_, nullptr);
  uv_close(handle_, [](uv_handle_s* handle) { free(handle); });
  handle_ = nullptr;
}

void Spinner::Served(Channel* channel) {
  idleSince_ = SpinnerNow();
  const int processor = sched_getcpu();
  channel->SetProcessor(processor);
  if (!channel->PeerIsOnOtherProcessor(processor) && channel->Sleep()) return;
  if (std::find(awake_.begin(), awake_.end(), channel) == awake_.end()) awake_.push_back(channel);
  Start();
}

void Spinner::Remove(Channel* channel) {
  awake_.erase(std::remove(awake_.begin(), awake_.end(), channel), awake_.end());
  if (awake_.empty()) Stop();
}

void Spinner::Start() {
  if (running_ || handle_ == nullptr) return;
  running_ = true;
  uv_idle_start(handle_, [](uv_handle_s* handle) {
    auto spinner = static_cast<Spinner*>(uv_handle_get_data(handle));
    if (spinner != nullptr) spinner->Turn();
  });
}

void Spinner::Stop() {
  if (!running_ || handle_ == nullptr) return;
  running_ = false;
  uv_idle_stop(handle_);
}

void Spinner::Turn() {
  Napi::HandleScope scope(env_);
  const uint64_t now = SpinnerNow();
  if (ServeReady()) return;
  if (now - idleSince_ < kSpinDuration && MaySpin()) {
    if (Spin()) ServeReady();
    return;
  }
  SleepAll(now);
}

bool Spinner::ServeReady() {
  bool served = false;
  // Serving a channel may close other channels or wake them.
  for (size_t i = 0; i < awake_.size();) {
    Channel* channel = awake_[i];
    if (channel->Ready()) {
      served = true;
      channel->Serve();
    }
    if (i < awake_.size() && awake_[i] == channel) i++;
  }
  if (served) idleSince_ = SpinnerNow();
  return served;
}

bool Spinner::Spin() {
  const uint64_t end = SpinnerNow() + kSpinPerTurn;
  do {
    for (int i = 0; i < 32; i++) {
      for (const Channel* channel : awake_) {
        if (channel->Ready()) return true;
      }
      RelaxProcessor();
    }
  } while (SpinnerNow() < end);
  return false;
}

bool Spinner::MaySpin() {
  const uint64_t now = SpinnerNow();
  const auto earned = static_cast<int64_t>((now - creditedAt_) / kSpinShare);
  credit_ = std::min(kSpinMaxCredit, credit_ + earned);
  creditedAt_ = now;
  if (credit_ < 0 || IsContended(now)) return false;
  const int processor = sched_getcpu();
  bool beside = false;
  for (Channel* channel : awake_) {
    channel->SetProcessor(processor);
    beside = beside || channel->PeerIsOnOtherProcessor(processor);
  }
  return beside;
}

bool Spinner::IsContended(uint64_t now) {
  if (now - checkedAt_ >= kSpinCheckInterval) {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    if (usage.ru_nivcsw != preemptions_ && checkedAt_ != 0) pausedUntil_ = now + kSpinPause;
    preemptions_ = usage.ru_nivcsw;
    checkedAt_ = now;
  }
  return now < pausedUntil_;
}

void Spinner::SleepAll(uint64_t now) {
  credit_ -= static_cast<int64_t>(std::min(now - idleSince_, kSpinDuration));
  awake_.erase(std::remove_if(awake_.begin(), awake_.end(), [](Channel* channel) { return channel->Sleep(); }),
               awake_.end());
  if (awake_.empty()) Stop();
}
