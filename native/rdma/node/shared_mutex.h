/**
 * A mutex that one thread holds alone, or several threads share. It has the functions of `std::shared_mutex` and uses
 * the lock of libuv, because the functions behind `std::shared_mutex` have another version in glibc 2.34, and an addon
 * that was built there could not be loaded with an older one.
 */
#pragma once
#include <new>

#include "node/libuv.h"

class SharedMutex {
 public:
  SharedMutex() {
    if (uv_rwlock_init(&lock_) != 0) throw std::bad_alloc();
  }
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex() { uv_rwlock_destroy(&lock_); }

  void lock() { uv_rwlock_wrlock(&lock_); }
  void unlock() { uv_rwlock_wrunlock(&lock_); }
  void lock_shared() { uv_rwlock_rdlock(&lock_); }
  void unlock_shared() { uv_rwlock_rdunlock(&lock_); }

 private:
  pthread_rwlock_t lock_;
};
