/**
 * Two threads and one ring: everything that is written is read, in order, and neither side sleeps for ever. Built with the thread
 * sanitizer, which ends it when two of its accesses could meet.
 */
#include "channel/ring.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kBytes = 20'000'000;

struct Shared {
  RingControl control{};
  std::vector<uint8_t> data;
  int toReader = eventfd(0, 0);
  int toWriter = eventfd(0, 0);
  explicit Shared(size_t size) : data(size) {}
};

void Wake(int fd) {
  const uint64_t one = 1;
  if (write(fd, &one, sizeof one) != sizeof one) abort();
}

void Await(int fd) {
  uint64_t count;
  if (read(fd, &count, sizeof count) != sizeof count) abort();
}

uint8_t ByteAt(uint64_t position) { return static_cast<uint8_t>(position * 2654435761u >> 13); }

void Write(Shared& shared, unsigned seed) {
  RingWriter writer(&shared.control, shared.data.data(), shared.data.size());
  uint8_t bytes[5000];
  for (uint64_t sent = 0; sent < kBytes;) {
    size_t size = 1 + rand_r(&seed) % sizeof bytes;
    if (size > kBytes - sent) size = kBytes - sent;
    for (size_t i = 0; i < size; i++) bytes[i] = ByteAt(sent + i);
    for (size_t at = 0; at < size;) {
      const int64_t taken = writer.Write(bytes + at, size - at);
      if (taken < 0) abort();
      at += static_cast<size_t>(taken);
      if (taken > 0 && writer.MustWake()) Wake(shared.toReader);
      while (at < size && !writer.HasRoom()) Await(shared.toWriter);
    }
    sent += size;
  }
}

void Read(Shared& shared, unsigned seed) {
  RingReader reader(&shared.control, shared.data.data(), shared.data.size());
  uint8_t bytes[5000];
  for (uint64_t got = 0; got < kBytes;) {
    const int64_t n = reader.Read(bytes, 1 + rand_r(&seed) % sizeof bytes);
    if (n < 0) abort();
    for (int64_t i = 0; i < n; i++) {
      if (bytes[i] != ByteAt(got + static_cast<uint64_t>(i))) abort();
    }
    got += static_cast<uint64_t>(n);
    if (n > 0 && reader.MustWake()) Wake(shared.toWriter);
    if (n == 0 && reader.Sleep()) {
      Await(shared.toReader);
      reader.WakeUp();
    }
  }
}

}  // namespace

int main() {
  for (const size_t size : {4096, 65536}) {
    Shared shared(size);
    std::thread writer(Write, std::ref(shared), 1u);
    std::thread reader(Read, std::ref(shared), 2u);
    writer.join();
    reader.join();
    printf("%zu: %llu bytes\n", size, static_cast<unsigned long long>(kBytes));
  }
}
