#include "channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "arguments.h"
#include "descriptors.h"
#include "environment.h"

namespace {

constexpr size_t kTokenBytes = 16;
constexpr size_t kSmallestRing = 4096;
constexpr size_t kLargestRing = size_t{1} << 24;
constexpr int kChannelSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/** The first ring leads from who has offered the channel to who has joined it. */
constexpr size_t kOffered = 0;
constexpr size_t kJoined = 1;

/** The first page. Behind it stand the bytes of the first ring, and those of the second. */
struct ChannelHead {
  uint8_t token[kTokenBytes];
  std::atomic<uint64_t> before[2];
  RingControl rings[2];
};

constexpr size_t kChannelHeadBytes = 4096;
static_assert(sizeof(ChannelHead) <= kChannelHeadBytes);

size_t RingSizeOf(const Napi::CallbackInfo& info) {
  const uint64_t bytes = CountOf(info, 0, "bytes");
  if (bytes >= kSmallestRing && bytes <= kLargestRing && (bytes & (bytes - 1)) == 0) return static_cast<size_t>(bytes);
  throw Napi::RangeError::New(info.Env(), "invalid bytes: expected a power of two from 4096 to 2^24, got " +
                                              std::to_string(bytes));
}

const uint8_t* ChannelTokenOf(const Napi::CallbackInfo& info) {
  const Bytes token = BytesOf(info, 1, "token");
  if (token.length == kTokenBytes) return token.data;
  throw Napi::RangeError::New(info.Env(), "invalid token: expected 16 bytes, got " + std::to_string(token.length));
}

void CloseDescriptor(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

}  // namespace

Napi::Function Channel::Define(Napi::Env env) {
  return DefineClass(env, "Channel",
                     {InstanceMethod("descriptors", &Channel::Descriptors), InstanceMethod("begin", &Channel::Begin),
                      InstanceMethod("resume", &Channel::Resume), InstanceMethod("before", &Channel::Before),
                      InstanceMethod("write", &Channel::Write), InstanceMethod("read", &Channel::Read),
                      InstanceMethod("close", &Channel::Close)});
}

Channel::Channel(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<Channel>(info), size_(RingSizeOf(info)), context_(info.Env(), "viceroy:channel") {
  const uint8_t* token = ChannelTokenOf(info);
  try {
    if (info.Length() > 2) {
      Join(info);
      if (std::memcmp(static_cast<ChannelHead*>(base_)->token, token, kTokenBytes) != 0) {
        throw SystemError(info.Env(), "join a channel that is not the one that was offered", EPERM);
      }
      Use(kJoined, kOffered);
    } else {
      Offer(info.Env());
      std::memcpy(static_cast<ChannelHead*>(base_)->token, token, kTokenBytes);
      Use(kOffered, kJoined);
    }
  } catch (...) {
    Release();
    throw;
  }
  spinner_ = Spinner::Of(info.Env());
}

Channel::~Channel() {
  Release();
}

void Channel::Offer(Napi::Env env) {
  memory_ = memfd_create("viceroy-link", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory_ < 0 || ftruncate(memory_, static_cast<off_t>(kChannelHeadBytes + 2 * size_)) != 0 ||
      fcntl(memory_, F_ADD_SEALS, kChannelSeals) != 0) {
    throw SystemError(env, "create the memory of a channel", errno);
  }
  int own[2];
  int other[2];
  if (pipe2(own, O_CLOEXEC | O_NONBLOCK) != 0) throw SystemError(env, "create a channel", errno);
  awaited_ = own[0];
  const bool made = pipe2(other, O_CLOEXEC | O_NONBLOCK) == 0;
  const int number = errno;
  close(own[1]);
  if (!made) throw SystemError(env, "create a channel", number);
  waker_ = other[1];
  close(other[0]);
  Map(env, memory_);
}

void Channel::Join(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const uint64_t pid = CountOf(info, 2, "pid");
  const uint64_t memory = CountOf(info, 3, "memory");
  const uint64_t waker = CountOf(info, 4, "waker");
  const uint64_t awaited = CountOf(info, 5, "awaited");
  // Before the memory: whose token is right was the process all the time.
  awaited_ = OpenOf(env, pid, waker, S_IFIFO, O_RDONLY | O_NONBLOCK, "waker");
  waker_ = OpenOf(env, pid, awaited, S_IFIFO, O_WRONLY | O_NONBLOCK, "waker");
  memory_ = OpenOf(env, pid, memory, S_IFREG, O_RDWR, "memory");
  // Memory that can shrink ends whoever reads beyond its end.
  const int seals = fcntl(memory_, F_GET_SEALS);
  struct stat status;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(memory_, &status) != 0 ||
      static_cast<uint64_t>(status.st_size) != kChannelHeadBytes + 2 * size_) {
    throw SystemError(env, "join a channel whose memory is not sealed, or of another size", EPERM);
  }
  Map(env, memory_);
  CloseDescriptor(memory_);
}

void Channel::Map(Napi::Env env, int fd) {
  void* base = mmap(nullptr, kChannelHeadBytes + 2 * size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) throw SystemError(env, "map the memory of a channel", errno);
  base_ = base;
}

void Channel::Use(size_t sends, size_t receives) {
  auto head = static_cast<ChannelHead*>(base_);
  uint8_t* rings = static_cast<uint8_t*>(base_) + kChannelHeadBytes;
  writer_.emplace(&head->rings[sends], rings + sends * size_, size_);
  reader_.emplace(&head->rings[receives], rings + receives * size_, size_);
  sentBefore_ = &head->before[sends];
  receivedBefore_ = &head->before[receives];
}

bool Channel::Ready() const {
  return reader_ && !paused_ && (reader_->HasBytes() || writer_->HasRoom());
}

void Channel::Serve() {
  Napi::Env env = Env();
  // Not by the classes of node-addon-api: they end the process when a thread is being terminated, which nothing can be called in.
  napi_value more = nullptr;
  const napi_status status = napi_make_callback(env, context_, Value(), ready_.Value(), 0, nullptr, &more);
  if (status == napi_ok) {
    bool goesOn = true;
    if (napi_get_value_bool(env, more, &goesOn) == napi_ok && !goesOn) paused_ = true;
    return;
  }
  paused_ = true;
  napi_value error = nullptr;
  // What JavaScript throws in a callback of the loop is an uncaught exception, as everywhere.
  if (status == napi_pending_exception && napi_get_and_clear_last_exception(env, &error) == napi_ok) {
    napi_fatal_exception(env, error);
  }
}

bool Channel::Sleep() {
  if (!reader_ || paused_) return true;
  if (!reader_->Sleep()) return false;
  if (!writer_->HasRoom()) return true;
  reader_->WakeUp();
  return false;
}

void Channel::RunsOn(int processor) {
  if (reader_) reader_->SetProcessor(processor);
}

bool Channel::PeerRunsBeside(int processor) const {
  if (!writer_) return false;
  const int peer = writer_->ReaderProcessor();
  return peer >= 0 && peer != processor;
}

void Channel::Heard() {
  uint8_t ignored[64];
  // The end: nobody is left who could wake this side. That the peer has gone is told elsewhere.
  if (read(awaited_, ignored, sizeof ignored) == 0) watch_.reset();
  if (!reader_ || paused_) return;
  reader_->WakeUp();
  auto spinner = spinner_;
  Serve();
  if (reader_) spinner->Served(this);
}

void Channel::WakePeer() {
  const uint8_t one = 1;
  // It fails when the peer is gone, or has not looked for very long: then it will.
  if (write(waker_, &one, 1) < 0) return;
}

void Channel::End(void* data) {
  static_cast<Channel*>(data)->Release();
}

void Channel::Release() {
  reader_.reset();
  writer_.reset();
  watch_.reset();
  if (spinner_) spinner_->Remove(this);
  spinner_.reset();
  CloseDescriptor(memory_);
  CloseDescriptor(waker_);
  CloseDescriptor(awaited_);
  if (base_ != nullptr) munmap(base_, kChannelHeadBytes + 2 * size_);
  base_ = nullptr;
}

Napi::Value Channel::Descriptors(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  Napi::Array numbers = Napi::Array::New(env, 3);
  numbers.Set(0u, Napi::Number::New(env, memory_));
  numbers.Set(1u, Napi::Number::New(env, waker_));
  numbers.Set(2u, Napi::Number::New(env, awaited_));
  return numbers;
}

Napi::Value Channel::Begin(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const uint64_t sent = CountOf(info, 0, "sent");
  if (!info[1].IsFunction()) throw Napi::TypeError::New(env, "invalid ready: expected a function");
  if (!reader_ || watch_) throw Napi::Error::New(env, "cannot begin a channel twice, nor one that is closed");
  watch_ = std::make_unique<Watch>(env, awaited_, [this] { Heard(); });
  CloseDescriptor(memory_);
  ready_ = Napi::Persistent(info[1].As<Napi::Function>());
  napi_add_env_cleanup_hook(env, End, this);
  Ref();
  sentBefore_->store(sent, std::memory_order_release);
  // What was written before this side could be woken is found now.
  if (!reader_->Sleep()) spinner_->Served(this);
  return env.Undefined();
}

Napi::Value Channel::Resume(const Napi::CallbackInfo& info) {
  if (paused_ && reader_) {
    paused_ = false;
    spinner_->Served(this);
  }
  return info.Env().Undefined();
}

Napi::Value Channel::Before(const Napi::CallbackInfo& info) {
  if (!reader_ || !reader_->HasBytes()) return Napi::Number::New(info.Env(), -1);
  return Napi::Number::New(info.Env(), static_cast<double>(receivedBefore_->load(std::memory_order_relaxed)));
}

Napi::Value Channel::Write(const Napi::CallbackInfo& info) {
  const Bytes bytes = BytesOf(info, 0, "bytes");
  const uint64_t from = CountOf(info, 1, "from");
  if (!writer_) throw Napi::Error::New(info.Env(), "cannot write to a channel that is closed");
  if (from > bytes.length) throw Napi::RangeError::New(info.Env(), "invalid from: expected an offset into the bytes");
  const int64_t taken = writer_->Write(bytes.data + from, bytes.length - static_cast<size_t>(from));
  if (taken > 0 && writer_->MustWake()) WakePeer();
  return Napi::Number::New(info.Env(), static_cast<double>(taken));
}

Napi::Value Channel::Read(const Napi::CallbackInfo& info) {
  const Bytes target = BytesOf(info, 0, "target");
  if (!reader_) throw Napi::Error::New(info.Env(), "cannot read from a channel that is closed");
  const int64_t copied = reader_->Read(target.data, target.length);
  if (copied > 0 && reader_->MustWake()) WakePeer();
  return Napi::Number::New(info.Env(), static_cast<double>(copied));
}

Napi::Value Channel::Close(const Napi::CallbackInfo& info) {
  const bool began = !ready_.IsEmpty();
  Release();
  if (began) {
    ready_.Reset();
    napi_remove_env_cleanup_hook(info.Env(), End, this);
    Unref();
  }
  return info.Env().Undefined();
}
