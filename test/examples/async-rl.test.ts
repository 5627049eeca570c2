import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, root, runExample } from "./program.js";

const { addon } = rdmaSupport();

/** What its page shows, with any numbers. */
const page = outputOf("docs/examples/async-rl.md").replace(/\d[\d.]*/g, "<n>");

interface Run {
  /** Percent of games that are won: by chance, and after each report. */
  readonly won: readonly number[];
  readonly versions: number;
  /** How old the weights were that something was learned from, at last. */
  readonly mean: number;
  readonly most: number;
  readonly played: number;
  readonly refused: number;
}

async function trained(versions: number, bound: number, transport = "shared"): Promise<Run> {
  const env = transport === "shared" ? {} : { VICEROY_RDMA_TRANSPORT: transport };
  const { code, stdout, stderr } = await runExample("async-rl", [`${versions}`, `${bound}`], root, env);
  if (addon !== undefined && transport === "shared") expect(stderr).toBe("");
  expectOutput(stdout, page.replace("by shared", addon === undefined ? "by stream" : `by ${transport}`));
  expect(code).toBe(0);
  const [, mean, most] = stdout.match(/.* were ([\d.]+) versions old on average, (\d+) at most/s)!.map(Number);
  const [, played] = stdout.match(/(\d+) of \d+ versions were played with/)!.map(Number);
  const [, refused] = stdout.match(/versions old: (\d+) times/)!.map(Number);
  return {
    won: [...stdout.matchAll(/(\d+) % of games/g)].map(([, share]) => Number(share)),
    versions: Number([...stdout.matchAll(/^version (\d+)/gm)].at(-1)![1]),
    mean: mean!,
    most: most!,
    played: played!,
    refused: refused!,
  };
}

describeTensors("asynchronous reinforcement learning", () => {
  test("it learns from games of older weights, none of which are older than they may be", async () => {
    const { won, versions, mean, most, played } = await trained(120, 4);
    // Who moves by chance wins one game in seven.
    expect(won[0]).toBeLessThan(30);
    expect(won.at(-1)).toBeGreaterThan(75);
    expect(versions).toBeGreaterThanOrEqual(120);
    expect(played).toBeGreaterThan(10);
    expect(mean).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(4);
  });

  test("games of weights that are too old are refused", async () => {
    const { versions, most, played, refused } = await trained(12, 0);
    expect(most).toBe(0);
    // Each version has learned from games of the one before it, and from no others.
    expect(played).toBe(versions);
    // What a generator has played while the trainer learned from its games is older than what came of that.
    expect(refused).toBeGreaterThan(0);
  });

  test("weights come by stream, too", async () => {
    const { versions, most } = await trained(12, 4, "stream");
    expect(versions).toBeGreaterThanOrEqual(12);
    expect(most).toBeLessThanOrEqual(4);
  });
});
