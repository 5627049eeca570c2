import { rdmaSupport } from "viceroy/rdma";
import { expect, test } from "vitest";
import { describeTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, root, runExample } from "./program.js";

const { addon } = rdmaSupport();

/** The output that the page shows, with placeholders for numbers. */
const page = outputOf("docs/examples/async-rl.md").replace(/\d[\d.]*/g, "<n>");

interface Run {
  /** Percent of episodes that are won: by the initial policy, and after each report. */
  readonly won: readonly number[];
  readonly versions: number;
  /** The policy lag of the rollouts that were used, at the end. */
  readonly meanLag: number;
  readonly largestLag: number;
  readonly versionsUsed: number;
  readonly rejected: number;
}

async function trained(versions: number, maxLag: number, transport = "shared"): Promise<Run> {
  const env = transport === "shared" ? {} : { VICEROY_RDMA_TRANSPORT: transport };
  const { code, stdout, stderr } = await runExample("async-rl", [`${versions}`, `${maxLag}`], root, env);
  if (addon !== undefined && transport === "shared") expect(stderr).toBe("");
  expectOutput(stdout, page.replace("by shared", addon === undefined ? "by stream" : `by ${transport}`));
  expect(code).toBe(0);
  const [, meanLag, largestLag] = stdout.match(/.* lag ([\d.]+) versions on average, (\d+) at most/s)!.map(Number);
  const [, versionsUsed] = stdout.match(/rollouts of (\d+) of \d+ versions were used/)!.map(Number);
  const [, rejected] = stdout.match(/above \d+ versions: (\d+)/)!.map(Number);
  return {
    won: [...stdout.matchAll(/(\d+) % of episodes/g)].map(([, rate]) => Number(rate)),
    versions: Number([...stdout.matchAll(/^version (\d+)/gm)].at(-1)![1]),
    meanLag: meanLag!,
    largestLag: largestLag!,
    versionsUsed: versionsUsed!,
    rejected: rejected!,
  };
}

describeTensors("asynchronous reinforcement learning", () => {
  test("learns from rollouts of older policies, none of which exceeds the largest lag", async () => {
    const { won, versions, meanLag, largestLag, versionsUsed } = await trained(120, 4);
    // A random policy wins one episode in seven.
    expect(won[0]).toBeLessThan(30);
    expect(won.at(-1)).toBeGreaterThan(75);
    expect(versions).toBeGreaterThanOrEqual(120);
    expect(versionsUsed).toBeGreaterThan(10);
    expect(meanLag).toBeGreaterThan(0);
    expect(largestLag).toBeLessThanOrEqual(4);
  });

  test("rejects rollouts whose lag is too large", async () => {
    const { versions, largestLag, versionsUsed, rejected } = await trained(12, 0);
    expect(largestLag).toBe(0);
    // Each version was made with a rollout of the version before it.
    expect(versionsUsed).toBe(versions);
    // A rollout that a generator plays while the trainer learns from the previous one is older than the result.
    expect(rejected).toBeGreaterThan(0);
  });

  test("pulls weights over the stream transport as well", async () => {
    const { versions, largestLag } = await trained(12, 4, "stream");
    expect(versions).toBeGreaterThanOrEqual(12);
    expect(largestLag).toBeLessThanOrEqual(4);
  });
});
