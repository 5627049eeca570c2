#include "channel/channel.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "node/arguments.h"
#include "node/callback.h"
#include "node/environment.h"

namespace {

constexpr size_t kSmallestRing = 4096;
constexpr size_t kLargestRing = size_t{1} << 24;
size_t RingSizeOf(const Napi::CallbackInfo& info) {
  const uint64_t bytes = CountOf(info, 0, "bytes");
  if (bytes >= kSmallestRing && bytes <= kLargestRing && (bytes & (bytes - 1)) == 0) return static_cast<size_t>(bytes);
  throw Napi::RangeError::New(info.Env(),
                              "invalid bytes: expected a power of two from 4096 to 2^24, got " + std::to_string(bytes));
}

const uint8_t* ChannelTokenOf(const Napi::CallbackInfo& info) {
  const Bytes token = BytesOf(info, 1, "token");
  if (token.length == ChannelMemory::kTokenBytes) return token.data;
  throw Napi::RangeError::New(info.Env(), "invalid token: expected 16 bytes, got " + std::to_string(token.length));
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
    : Napi::ObjectWrap<Channel>(info), context_(info.Env(), "viceroy:channel") {
  auto memory = std::make_unique<ChannelMemory>(RingSizeOf(info));
  const uint8_t* token = ChannelTokenOf(info);
  if (info.Length() > 2) {
    memory->Join(info.Env(), token, CountOf(info, 2, "pid"), CountOf(info, 3, "memory"), CountOf(info, 4, "waker"),
                 CountOf(info, 5, "awaited"));
  } else {
    memory->Offer(info.Env(), token);
  }
  writer_.emplace(memory->Writer());
  reader_.emplace(memory->Reader());
  memory_ = std::move(memory);
  spinner_ = Spinner::Of(info.Env());
}

Channel::~Channel() {
  Release();
}

bool Channel::Ready() const {
  return reader_ && !paused_ && (reader_->HasBytes() || writer_->HasRoom());
}

void Channel::Serve() {
  const napi_value more = CallBack(Env(), context_, Value(), ready_.Value());
  bool goesOn = true;
  if (more == nullptr || (napi_get_value_bool(Env(), more, &goesOn) == napi_ok && !goesOn)) paused_ = true;
}

bool Channel::Sleep() {
  if (!reader_ || paused_) return true;
  if (!reader_->Sleep()) return false;
  if (!writer_->HasRoom()) return true;
  reader_->WakeUp();
  return false;
}

void Channel::SetProcessor(int processor) {
  if (reader_) reader_->SetProcessor(processor);
}

bool Channel::PeerIsOnOtherProcessor(int processor) const {
  if (!writer_) return false;
  const int peer = writer_->ReaderProcessor();
  return peer >= 0 && peer != processor;
}

void Channel::OnWakeUp() {
  uint8_t ignored[64];
  // End of file: the peer has closed its end and cannot wake this side again. Another part of the link detects the
  // peer's exit.
  if (read(memory_->awaited(), ignored, sizeof ignored) == 0) watch_.reset();
  if (!reader_ || paused_) return;
  reader_->WakeUp();
  auto spinner = spinner_;
  Serve();
  if (reader_) spinner->Served(this);
}

void Channel::WakePeer() {
  const uint8_t one = 1;
  // Fails if the peer has exited, or if the pipe is full; in the second case the peer finds it readable anyway.
  if (write(memory_->waker(), &one, 1) < 0) return;
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
  memory_.reset();
}

Napi::Value Channel::Descriptors(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  if (!memory_) throw Napi::Error::New(env, "cannot join a channel that is closed");
  Napi::Array numbers = Napi::Array::New(env, 3);
  numbers.Set(0u, Napi::Number::New(env, memory_->memory()));
  numbers.Set(1u, Napi::Number::New(env, memory_->waker()));
  numbers.Set(2u, Napi::Number::New(env, memory_->awaited()));
  return numbers;
}

Napi::Value Channel::Begin(const Napi::CallbackInfo& info) {
  Napi::Env env = info.Env();
  const uint64_t sent = CountOf(info, 0, "sent");
  if (!info[1].IsFunction()) throw Napi::TypeError::New(env, "invalid ready: expected a function");
  if (!reader_ || watch_) throw Napi::Error::New(env, "cannot begin a channel twice, nor one that is closed");
  watch_ = std::make_unique<Watch>(env, memory_->awaited(), [this] { OnWakeUp(); });
  memory_->CloseMemory();
  ready_ = Napi::Persistent(info[1].As<Napi::Function>());
  napi_add_env_cleanup_hook(env, End, this);
  Ref();
  memory_->sent_before().store(sent, std::memory_order_release);
  // Finds bytes that the peer wrote before it could wake this side.
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
  return Napi::Number::New(info.Env(), static_cast<double>(memory_->received_before().load(std::memory_order_relaxed)));
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
