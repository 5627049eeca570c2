/** Options of calls: the options that are accepted, and the errors for all others. */
import { expect, test } from "vitest";
import { type CallOptions, checkCallOptions } from "../../../runtime/actor/call/call-guard.js";

const label = "counters.value";
const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
const check = (options: unknown, idempotent = true) => checkCallOptions(label, idempotent, options as CallOptions);

test.each<[unknown]>([
  [{}],
  [{ timeout: 0 }],
  [{ timeout: 0.5, wait: true }],
  [{ timeout: Number.POSITIVE_INFINITY, wait: false, signal: new AbortController().signal, traceparent }],
  [{ retry: 1 }],
  [{ retry: 5 }],
  [{ retry: { attempts: 1 } }],
  [{ retry: { attempts: 3, backoff: 0, deadline: 0.1 } }],
  [{ retry: { attempts: 3, backoff: 10, deadline: Number.POSITIVE_INFINITY } }],
  [{ timeout: undefined, signal: undefined, traceparent: undefined, wait: undefined, retry: undefined }],
])("valid call options are accepted: %o", (options) => {
  expect(() => check(options)).not.toThrow();
});

test("an endpoint that is not idempotent accepts all options except retry", () => {
  expect(() => check({ timeout: 5, wait: true, traceparent }, false)).not.toThrow();
  expect(() => check({ retry: 1 }, false)).toThrow(new TypeError("cannot retry counters.value: it is not @idempotent"));
});

const atLeast = "cannot retry counters.value: expected at least 1 attempt, the first one included, got";
const timeout = "cannot wait: expected a timeout of at least 0 ms, got";
test.each<[unknown, Error]>([
  [{ timeout: -1 }, new RangeError(`${timeout} -1`)],
  [{ timeout: "5" }, new RangeError(`${timeout} "5"`)],
  [{ wait: 1 }, new TypeError("cannot call counters.value: expected true or false for wait, got 1")],
  [{ wait: "true" }, new TypeError('cannot call counters.value: expected true or false for wait, got "true"')],
  [{ signal: "now" }, new TypeError("cannot call counters.value: expected an AbortSignal, got string")],
  [{ traceparent: 5 }, new TypeError("cannot call counters.value: expected a traceparent, got 5")],
  [{ traceparent: "00-0" }, new TypeError('cannot call counters.value: expected a traceparent, got "00-0"')],
  [{ retry: 0 }, new RangeError(`${atLeast} 0`)],
  [{ retry: 1.5 }, new RangeError(`${atLeast} 1.5`)],
  [{ retry: {} }, new RangeError(`${atLeast} undefined`)],
  [{ retry: { attempts: -1 } }, new RangeError(`${atLeast} -1`)],
  [
    { retry: { attempts: 2, deadline: 0 } },
    new RangeError("cannot retry counters.value: expected a deadline of more than 0 ms, got 0"),
  ],
  [
    { retry: { attempts: 2, deadline: "9" } },
    new RangeError('cannot retry counters.value: expected a deadline of more than 0 ms, got "9"'),
  ],
  [
    { retry: { attempts: 2, backoff: -0.1 } },
    new RangeError("cannot retry counters.value: expected backoff of at least 0 ms, got -0.1"),
  ],
  [
    { retry: { attempts: 2, backoff: "9" } },
    new RangeError('cannot retry counters.value: expected backoff of at least 0 ms, got "9"'),
  ],
  [
    { retries: 2 },
    new TypeError(
      'cannot call counters.value: expected one of the options timeout, signal, traceparent, wait, retry, got "retries"',
    ),
  ],
  [
    { retry: { attempts: 2, pause: 5 } },
    new TypeError('cannot retry counters.value: expected one of the options attempts, backoff, deadline, got "pause"'),
  ],
])("invalid call options are refused with an error that names the expected value: %o", (options, error) => {
  expect(() => check(options)).toThrow(error);
});
