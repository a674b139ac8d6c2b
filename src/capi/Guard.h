// The wall between C and C++: no exception passes, every failure becomes a status and an error object.

#pragma once

#include "jitk/jitk.h"
#include "src/capi/Handles.h"
#include "src/support/Status.h"

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace jitk::capi {

/// Stores the failure in `*error`, if the caller wants it, and returns its code. `key` is that of the kernel concerned,
/// or empty.
jitk_status_t report(Status status, const std::string &key, jitk_error_t *error) noexcept;

/// Runs `body`, which returns a Status, behind the wall. `key` names the kernel concerned, once `body` knows it.
template <typename Body> jitk_status_t guard(jitk_error_t *error, const std::string &key, Body &&body) noexcept {
  if (error) {
    *error = nullptr;
  }
  try {
    Status status = body();
    return status.ok() ? JITK_STATUS_OK : report(std::move(status), key, error);
  } catch (const std::bad_alloc &) {
    return report(Status(StatusCode::OutOfMemory, std::string()), key, error);
  } catch (const std::exception &exception) {
    return report(Status(StatusCode::Internal, exception.what()), key, error);
  } catch (...) {
    return report(Status(StatusCode::Internal, std::string()), key, error);
  }
}

template <typename Body> jitk_status_t guard(jitk_error_t *error, Body &&body) noexcept {
  return guard(error, std::string(), std::forward<Body>(body));
}

/// InvalidArgument if a required pointer is null.
inline Status require(const void *pointer, const char *name) {
  return pointer ? okStatus() : invalidArgument(std::string(name) + " must not be null");
}

/// InvalidArgument if a required text is null or empty.
inline Status requireText(const char *text, const char *name) {
  JITK_TRY(require(text, name));
  return *text ? okStatus() : invalidArgument(std::string(name) + " must not be empty");
}

/// Of a question about the kernel of a description for a target; both must be there.
inline Result<Target> targetOf(const jitk_description_s *description, const char *target) {
  JITK_TRY(require(description, "description"));
  JITK_TRY(require(target, "target"));
  return Target::parse(target);
}

/// InvalidArgument if a launch has flags that this library does not know.
inline Status checkLaunchFlags(uint64_t flags) {
  return (flags & ~JITK_LAUNCH_PROGRAMMATIC) == 0
             ? okStatus()
             : invalidArgument("launch.flags must be 0 or JITK_LAUNCH_PROGRAMMATIC: got " + std::to_string(flags));
}

/// InvalidArgument if an array of some items is null.
inline Status checkArray(const void *items, size_t count, const char *name) {
  return count == 0 ? okStatus() : require(items, name);
}

/// The same for the two arrays of scalars that a launch may have, of which it has one.
template <typename Launch> Status checkScalars(const Launch &launch) {
  JITK_TRY(checkArray(launch.scalars, launch.num_scalars, "launch.scalars"));
  JITK_TRY(checkArray(launch.typed_scalars, launch.num_typed_scalars, "launch.typed_scalars"));
  return launch.num_scalars == 0 || launch.num_typed_scalars == 0
             ? okStatus()
             : invalidArgument("launch must have scalars or typed_scalars: got both");
}

/// InvalidArgument for a `struct_size` that no version of the struct has: each begins with a size_t and ends at a
/// multiple of its alignment. So no pointer is ever read by half.
template <typename T> Status checkStructSize(const T &given, const char *name) {
  if (given.struct_size >= sizeof given.struct_size && given.struct_size % alignof(T) == 0) {
    return okStatus();
  }
  return invalidArgument(std::string(name) + ".struct_size must be the size of the struct: got " +
                         std::to_string(given.struct_size));
}

/// Bytes of a struct that this library knows: all of it. A library that plays an older one, in tests/abi, knows less.
template <typename T> inline constexpr size_t kKnownBytes = sizeof(T);

/// Copies a struct of the caller, whose header may be older (the rest is zero) or newer (the rest must be zero).
template <typename T> Status readStruct(const T *given, const char *name, T &copy) {
  JITK_TRY(require(given, name));
  if (kKnownBytes<T> == sizeof copy && given->struct_size == sizeof copy) {
    copy = *given; // the usual client, which a launch need not pay more for
    return okStatus();
  }
  std::memset(&copy, 0, sizeof copy);
  JITK_TRY(checkStructSize(*given, name));
  size_t size = given->struct_size;
  std::memcpy(&copy, given, size < kKnownBytes<T> ? size : kKnownBytes<T>);
  for (size_t i = kKnownBytes<T>; i < size; ++i) {
    if (reinterpret_cast<const unsigned char *>(given)[i] != 0) {
      return invalidArgument(std::string(name) + " sets a field that this library does not know, at byte " +
                             std::to_string(i) + ": got struct_size " + std::to_string(size));
    }
  }
  copy.struct_size = sizeof copy;
  return okStatus();
}

/// Fills a struct of the caller as far as it reaches; its `struct_size` stays.
template <typename T> Status writeStruct(const T &value, const char *name, T *given) {
  JITK_TRY(require(given, name));
  JITK_TRY(checkStructSize(*given, name));
  size_t size = given->struct_size;
  std::memcpy(given, &value, size < kKnownBytes<T> ? size : kKnownBytes<T>);
  given->struct_size = size;
  return okStatus();
}

/// Gives the caller a kernel; or, after a failure, says whose key it concerns.
Status giveKernel(Result<Served> got, const std::shared_ptr<Runtime> &runtime, const jitk_device_s &device,
                  const jitk_description_s &description, jitk_kernel_t *kernel, std::string &key);

/// The failure of a launch, and whose key it concerns.
Status failedLaunch(Status failure, const jitk_kernel_s &kernel, std::string &key);

} // namespace jitk::capi
