/** Traces as W3C Trace Context has them. */
import { expect, test } from "vitest";
import { systemRandom } from "../../runtime/link/clock.js";
import { noChain, readExtension, writeExtension } from "../../runtime/link/extension.js";
import { parseTraceparent, TraceSource } from "../../runtime/link/trace.js";
import { Reader } from "../../runtime/wire/reader.js";
import { Writer } from "../../runtime/wire/writer.js";

const example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("what the specification gives as an example is read and written", () => {
  const trace = parseTraceparent(example)!;
  expect([trace.id, trace.span, trace.flags]).toEqual(["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1]);
  expect(trace.toString()).toBe(example);
});

test("later versions may have more fields", () => {
  expect(parseTraceparent(`01${example.slice(2)}-more`)?.toString()).toBe(example);
});

test.each([
  "",
  "00",
  example.toUpperCase(),
  `${example}-more`,
  `ff${example.slice(2)}`,
  `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
  `00-4bf92f3577b34da6a3ce929d0e0e4736-${"0".repeat(16)}-01`,
  `00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01`,
])("no traceparent: %j", (text) => {
  expect(parseTraceparent(text)).toBeUndefined();
});

test("traces differ, and those of two sources do; spans of one trace keep its id and its flags", () => {
  const [one, other] = [new TraceSource(systemRandom), new TraceSource(systemRandom)];
  const traces = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? one : other).start());
  expect(new Set(traces.map(({ id }) => id)).size).toBe(1000);
  expect(new Set(traces.map(({ span }) => span)).size).toBe(1000);
  const span = one.follow(parseTraceparent(example)!);
  expect(span.toString()).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/);
  expect(span.span).not.toBe("00f067aa0ba902b7");
});

test("a message carries its trace, or none", () => {
  for (const trace of [parseTraceparent(example), undefined]) {
    const w = new Writer();
    // What was there before is overwritten.
    w.bytes.fill(0xff);
    writeExtension(w, { rank: 3, extent: 0, timeout: 250, trace, chain: noChain });
    const bytes = w.bytes.slice(0, w.position);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length, undefined);
    expect(readExtension(r)).toEqual({ rank: 3, extent: 0, timeout: 250, trace, chain: [] });
  }
});
