/** A decoded string keeps at most 16 KiB of its message in memory, however large the message was. */
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";

/** Decodes messages of about a megabyte, keeps one string of each, and prints the bytes that are kept for each of them. */
function keptBytes(strings: string, layout: "decode" | "fromProtobuf"): number {
  const program = `
    import { codec } from "viceroy";
    const texts = codec.array(codec.string);
    const bytes = texts.${layout === "decode" ? "encode" : "toProtobuf"}(Array.from({ length: 40_000 }, (_, i) => ${strings}));
    const kept = [];
    const keep = (times) => { for (let i = 0; i < times; i++) kept.push(texts.${layout}(bytes)[i * 97 % 40_000]); };
    const inUse = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
    keep(20);
    const before = inUse();
    keep(100);
    console.log((inUse() - before) / 100, kept.length);`;
  const run = ["--expose-gc", "--input-type=module", "--eval", program];
  return Number(execFileSync(process.execPath, run, { encoding: "utf8" }).split(" ")[0]);
}

describe.each(["decode", "fromProtobuf"] as const)("%s", (layout) => {
  test.each([
    ["of ASCII", '"number " + i + " of many"'],
    ["of other Latin-1 characters", '"süß " + i + " déjà vu"'],
    ["of other characters", '"日本 " + i + " 🧀 и так далее"'],
    ["that are long", '"x".repeat(i % 7 === 0 ? 300 : 20) + i'],
  ])("keeps at most 16 KiB for a string among strings %s", (_, strings) => {
    expect(keptBytes(strings, layout)).toBeLessThan(16 * 1024 + 512);
  });
});
