import { expect, test } from "vitest";
import { outputOf } from "./markdown.js";
import { expectOutput, runExample } from "./program.js";

const output = `
watching slowly:
  watched 100, taken <n>  ==>
  watched 200, taken <n>  ====>
  watched 300, taken <n>  ======>
  watched 400, taken <n>  ========>
  watched 500, taken <n>  ==========>
stopped watching after 500: the camera stopped at <n>
storing 20,000 notes, with await:
  stored 5000, sent <n>
  stored 10000, sent <n>
  stored 15000, sent <n>
  stored 20000, sent <n>
without await: refused after <n> notes
  cannot send archive.store: 65536 messages (<n> bytes) already wait for the receiver, the send window being 65536 messages and 67108864 bytes; await what broadcast and send return`;

/** The camera's lead varies: one arrow stands for any number of arrows. */
const plain = (text: string) => text.replace(/>+$/gm, ">");

test("streaming: a slow consumer slows its producer", async () => {
  const { code, stdout, stderr } = await runExample("streaming");
  expect(stderr).toBe("");
  expectOutput(plain(stdout), output);
  for (const [, watched, taken] of stdout.matchAll(/watched (\d+), taken (\d+)/g)) {
    expect(Number(taken) - Number(watched)).toBeLessThanOrEqual(2 * 256);
  }
  for (const [, stored, sent] of stdout.matchAll(/stored (\d+), sent (\d+)/g)) {
    expect(Number(sent) - Number(stored)).toBeLessThanOrEqual(2 * 4096);
  }
  expect(code).toBe(0);
});

test("streaming: the documentation page shows the expected output", () => {
  expectOutput(plain(outputOf("docs/examples/streaming.md")), output);
});
