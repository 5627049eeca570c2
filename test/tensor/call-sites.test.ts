/**
 * The places in the user's code that recorded operations name. Most of them are found by sampled positions of the stack, which V8 reuses
 * for other code; the tests therefore make and drop code all the time.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext, Script } from "node:vm";
import { afterEach, describe, expect, test, vi } from "vitest";
import { stackAddonState } from "../../runtime/native/stack-addon.js";
import { nn, noGrad, type Tensor, torch } from "../../runtime/tensor/index.js";
import { hasTensors } from "./addon.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

const stack = stackAddonState();
if (hasTensors && stack.addon === undefined) {
  const why = `${stack.why}; run \`node dist/cli/viceroy.js setup --stack\``;
  if (process.env["VICEROY_PEERS"] === "required") throw new Error(`cannot test call sites: ${why}`);
  console.warn(`skipped: tests of call sites (${why})`);
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Reads the call sites of commands (native/tensor/commands/format.h) that are recorded after others, which it has not seen. */
class SiteReader {
  readonly #sites: string[] = [];
  /** The number of the first site of `#sites`. The first call that it reads is at that site. */
  #first: number | undefined;

  /** Returns the place of the first call in commands that begin with definitions, dropped tensors and this call. */
  firstSite(commands: Uint8Array): string {
    const view = new DataView(commands.buffer, commands.byteOffset, commands.byteLength);
    let at = 0;
    const count = () => {
      at += 4;
      return view.getUint32(at - 4, true);
    };
    const text = () => {
      const length = count();
      at += length;
      return Buffer.from(commands.subarray(at - length, at)).toString();
    };
    for (;;) {
      const command = view.getUint8(at++);
      if (command === 1) [text(), text()];
      else if (command === 2) this.#sites.push(text());
      else if (command === 4) at += 8 * count();
      else {
        expect(command).toBe(3);
        count();
        const site = count();
        this.#first ??= site;
        return this.#sites[site - this.#first]!;
      }
    }
  }
}

interface Given {
  readonly x: Tensor;
  readonly torch: typeof torch;
  readonly noGrad: typeof noGrad;
  /** A layer in several others, so that many frames of the package lie between it and the user's code. */
  readonly model: nn.Layer;
}

/** A function that records something, and the place of its call: `/sites/3.js:12:7`. */
interface Path {
  readonly run: () => void;
  readonly place: string;
}

/**
 * Compiles a file with functions that record one operation each, in different ways. Each function has lines of its own, so that a wrong site
 * cannot look right.
 */
function compilePaths(file: string, given: Given): Path[] {
  const ways = [
    "given.x.neg().dispose()",
    "given.torch.neg(given.x).dispose()",
    "given.noGrad(() => given.x.neg().dispose())",
    "given.model.forward(given.x).dispose()",
    "[given.x].map((one) => one.neg())[0].dispose()",
    "inner((one) => one.neg()).dispose()",
    "deeper(4, (one) => one.abs()).dispose()",
  ];
  const lines = [
    "(given) => { const inner = (call) => call(given.x);",
    "const deeper = (left, call) => (left === 0 ? inner(call) : deeper(left - 1, call)); return [",
  ];
  const places: string[] = [];
  for (let copy = 0; copy < 4; copy++) {
    for (const way of ways) {
      lines.push("() => {", `  ${way};`, "},");
      const called = way.search(
        /(?<=given\.x\.|one\.|torch\.)(?:neg|abs)\(|(?<=noGrad\(\(\) => given\.x\.)neg|forward\(/,
      );
      places.push(`${file}:${lines.length - 1}:${called + 3}`);
    }
  }
  lines.push("]; }");
  const runs = new Script(lines.join("\n"), { filename: file }).runInThisContext()(given) as (() => void)[];
  return runs.map((run, i) => ({ run, place: places[i]! }));
}

/** A sequence of numbers that looks random and is the same each time (Marsaglia's xorshift). */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield state >>> 0;
  }
}

afterEach(() => void vi.restoreAllMocks());

describe.skipIf(!hasTensors || stack.addon === undefined)("call sites", () => {
  test("are right on every path, while code is compiled, optimized, collected and replaced by other code", () => {
    using pair = new RecorderAndWorker();
    const nest = (module: nn.Layer) => new nn.Sequential(module);
    const model = pair.run(() => nest(nest(nest(new nn.Linear(2, 2, { bias: false })))));
    const given: Given = { x: pair.send([[1, 2]]), torch, noGrad, model };
    const reader = new SiteReader();
    pair.take();
    const random = numbers(20_261_130);
    let checked = 0;
    for (let round = 0; round < 30; round++) {
      // The files of three rounds before are garbage by now.
      const paths = [0, 1, 2].flatMap((file) => compilePaths(`/sites/${round}-${file}.js`, given));
      // A few paths run so often that they are optimized, others once or not at all.
      const often = paths.filter(() => random.next().value % 8 === 0);
      for (let i = 0; i < 400; i++) {
        const chosen = i % 4 === 0 ? paths : often.length > 0 ? often : paths;
        const { run, place } = chosen[random.next().value % chosen.length]!;
        run();
        const found = reader.firstSite(pair.take());
        if (found !== place) expect(found).toBe(place);
        checked++;
      }
      // V8 keeps compiled files for some collections.
      if (round % 3 === 0) for (let i = 0; i < 6; i++) collectGarbage();
    }
    expect(checked).toBe(12_000);
  });

  test("are not searched again by JavaScript once they are known", () => {
    using pair = new RecorderAndWorker();
    const x = pair.send([1, 2]);
    const record = () => x.neg().dispose();
    for (let i = 0; i < 5000; i++) record();
    const captured = vi.spyOn(Error, "captureStackTrace");
    for (let i = 0; i < 5000; i++) record();
    // Code that is optimized meanwhile has new positions.
    expect(captured.mock.calls.length).toBeLessThan(50);
  });
});
