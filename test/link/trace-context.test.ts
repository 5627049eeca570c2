/** Tests of traces in the form of W3C Trace Context. */
import { expect, test } from "vitest";
import { systemRandom } from "../../runtime/link/clock.js";
import { emptyChain, readExtension, writeExtension } from "../../runtime/link/frame/message-extension.js";
import { isTraceparent, parseTraceparent, TraceContext, TraceSource } from "../../runtime/link/trace-context.js";
import { Reader } from "../../runtime/wire/reader.js";
import { Writer } from "../../runtime/wire/writer.js";

const example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

test("the example of the specification is parsed, and printed unchanged", () => {
  const trace = parseTraceparent(example)!;
  expect([trace.id, trace.span, trace.flags]).toEqual(["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", 1]);
  expect(trace.toString()).toBe(example);
});

test("every part of a traceparent keeps its leading zeros and its highest bits", () => {
  const small = new TraceContext(0, 0xf, 0xabc, 1, 0, 2, 0);
  expect(small.toString()).toBe("00-000000000000000f00000abc00000001-0000000000000002-00");
  expect(parseTraceparent(small.toString())).toEqual(small);
  const large = `00-${"f".repeat(32)}-${"e".repeat(16)}-ff`;
  const words = [0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff] as const;
  expect(parseTraceparent(large)).toEqual(new TraceContext(...words, 0xeeee_eeee, 0xeeee_eeee, 0xff));
  expect(parseTraceparent(large)!.toString()).toBe(large);
});

test("an id or a span with zeros is valid if at least one digit is not zero", () => {
  const ids = ["1".padStart(32, "0"), "1".padEnd(32, "0"), `0${"1".repeat(30)}0`];
  for (const id of ids) expect(isTraceparent(`00-${id}-00f067aa0ba902b7-01`)).toBe(true);
  const spans = ["1".padStart(16, "0"), "1".padEnd(16, "0")];
  for (const span of spans) expect(isTraceparent(`00-4bf92f3577b34da6a3ce929d0e0e4736-${span}-01`)).toBe(true);
});

test("a traceparent of a later version may have more fields", () => {
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
  `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b-01`,
  `0${example}`,
  ` ${example}`,
  `${example}0`,
  `${example} `,
  `01${example.slice(2)}more`,
  `01${example.slice(2)}-more\n`,
  example.slice(0, -1),
  example.slice(1),
  example.replaceAll("-", "_"),
  example.replace("4b", "4g"),
])("%j is not a traceparent", (text) => {
  expect([parseTraceparent(text), isTraceparent(text)]).toEqual([undefined, false]);
});

test("each new trace has its own id, and a new span keeps the id and the flags of its trace", () => {
  const [one, other] = [new TraceSource(systemRandom), new TraceSource(systemRandom)];
  const traces = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? one : other).newTrace());
  expect(new Set(traces.map(({ id }) => id)).size).toBe(1000);
  expect(new Set(traces.map(({ span }) => span)).size).toBe(1000);
  const span = one.newSpan(parseTraceparent(example)!);
  expect(span.toString()).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[\da-f]{16}-01$/);
  expect(span.span).not.toBe("00f067aa0ba902b7");
});

test("ids of traces come from the sfc32 generator, which is seeded once from the randomness of the process", () => {
  const seeds = [0x0123_4567_89ab_cdefn, 0xfedc_ba98_7654_3210n];
  const source = new TraceSource({ number: () => 0, id: () => seeds.shift()! });
  const first = source.newTrace();
  // These are the first words that the published generator gives for these seeds.
  expect(`${first}`).toBe("00-89abcdee28f651ee514dcf1f1c86699e-386b98b48057593f-00");
  expect(`${source.newSpan(first)}`).toBe("00-89abcdee28f651ee514dcf1f1c86699e-74091a078ee9793b-00");
  expect(`${source.newTrace()}`).toBe("00-114c2dacec4ae882a3463c39d398371c-80e249f01106715e-00");
});

test("the extension of a message carries a trace or no trace", () => {
  for (const trace of [parseTraceparent(example), undefined]) {
    const w = new Writer();
    // The memory is not zero, so every byte must be written.
    w.bytes.fill(0xff);
    writeExtension(w, { rank: 3, extent: 0, timeout: 250, trace, chain: emptyChain });
    const bytes = w.bytes.slice(0, w.position);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length, undefined);
    expect(readExtension(r)).toEqual({ rank: 3, extent: 0, timeout: 250, trace, chain: [] });
  }
});
