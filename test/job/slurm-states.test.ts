/** Tests of what Slurm can do to a job: each state ends in an event or in an error, and leaves nothing behind. */
import { expect, test } from "vitest";
import { until } from "../proc/until.js";
import type { JobDriver } from "./job-driver.js";
import { onSlurm } from "./lab/slurm-tests.js";

const isLong = process.env["VICEROY_TEST_PROFILE"] === "long";

/** Waits for an event that begins with a text, and returns it. */
async function eventOf(driver: JobDriver, begin: string): Promise<string> {
  await until(() => driver.events().some((event) => event.startsWith(begin)));
  return driver.events().find((event) => event.startsWith(begin))!;
}

onSlurm("the states of a job of Slurm", (lab) => {
  test("a job gets fewer nodes than it asks for", async () => {
    const other = await lab.occupyNow("--nodes=2", "--exclusive");
    const driver = lab.startDriver({ arguments: ["--nodes=1-2"], setup: "sleep 30" });
    const { name, message } = await driver.outcome();
    expect(name).toBe("PartialAllocationError");
    expect(message).toBe('cannot start job "viceroy": it asks for 2 hosts, and the scheduler gave 1');
    expect(lab.living()).toEqual([other]);
  });

  test("nodes are down while the job waits, and come back", async () => {
    // A node that is only down is used again as soon as it registers, which can be before the job waits.
    for (const state of ["DOWN", "DRAIN"]) {
      lab.cluster.run("scontrol", "update", "NodeName=n1,n2", `State=${state}`, "Reason=broken");
    }
    const driver = lab.startDriver({});
    // For a moment, Slurm says no reason.
    const reason = /^pending: job \d+ is PENDING: (Resources|ReqNodeNotAvail.*|.*DOWN, DRAINED.*)$/;
    await until(() => driver.events().some((event) => reason.test(event)));
    await Promise.all(["n1", "n2"].map((name) => lab.cluster.resumeNode(name)));
    expect((await driver.outcome()).names).toHaveLength(4);
    expect(await driver.exited).toBe(0);
  });

  test("a node fails while the job runs: Slurm requeues the job", async () => {
    const driver = lab.startDriver({}, "wait");
    const { names } = await driver.outcome();
    const [id] = lab.living();
    await lab.cluster.killNode(names![2]!);
    // Otherwise Slurm would notice it half a minute later.
    lab.cluster.run("scontrol", "update", `NodeName=${names![2]}`, "State=DOWN", "Reason=burnt");
    await eventOf(driver, `host-lost: job ${id} is PENDING again: `);
    lab.cluster.startNode(names![2]!);
  });

  test("a node fails while the job runs, which must not be requeued", async () => {
    const driver = lab.startDriver({ arguments: ["--no-requeue"] }, "wait");
    const { names } = await driver.outcome();
    const [id] = lab.living();
    await lab.cluster.killNode(names![2]!);
    await eventOf(driver, `ended: Slurm has ended job ${id}: NODE_FAIL`);
    expect(lab.living()).toEqual([]);
    lab.cluster.startNode(names![2]!);
  });

  test("a job is requeued as soon as it has started", async () => {
    const driver = lab.startDriver({}, "wait");
    await driver.outcome();
    const [id] = lab.living();
    lab.cluster.run("scontrol", "requeue", id!);
    await eventOf(driver, `host-lost: job ${id} is PENDING again: `);
  });

  test("a job is requeued before its hosts are up, and starts again", async () => {
    const setup = '[ -n "$SLURM_RESTART_COUNT" ] || sleep 600';
    const driver = lab.startDriver({ setup });
    await eventOf(driver, "starting: ");
    const [id] = lab.living();
    lab.cluster.run("scontrol", "requeue", id!);
    await until(() => lab.state(id!) === "PENDING");
    // Slurm waits two minutes before it starts a requeued job. For a moment, the nodes refuse a job that they have just ended.
    lab.cluster.run("scontrol", "update", `JobId=${id}`, "StartTime=now+4");
    const { names, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(names).toHaveLength(4);
    expect(await driver.exited).toBe(0);
  });

  test("a job is preempted and cancelled", async () => {
    const driver = lab.startDriver({ partition: "cheap" }, "wait");
    await driver.outcome();
    const [id] = lab.living();
    lab.occupy("--partition=urgent", "--nodes=3", "--exclusive");
    await eventOf(driver, `ended: Slurm has ended job ${id}: PREEMPTED`);
  });

  // Slurm 22.05 always ends the steps of a preempted job at once.
  test.runIf(lab.version === "24.11")(
    "a job is warned that it will be preempted, and its hosts go on until then",
    async () => {
      const driver = lab.startDriver({ partition: "graced" }, "wait");
      await driver.outcome();
      const [id] = lab.living();
      lab.occupy("--partition=urgent", "--nodes=3", "--exclusive");
      expect(await eventOf(driver, "warned: ")).toMatch(
        new RegExp(`^warned: Slurm ends job ${id} (in \\d+ s|soon): it reaches its time limit, or is preempted$`),
      );
      expect(lab.state(id!)).toBe("RUNNING");
      await eventOf(driver, `ended: Slurm has ended job ${id}: PREEMPTED`);
    },
  );

  test("the signal that Slurm sends before the time limit is an event, and the job goes on", async () => {
    const driver = lab.startDriver({}, "wait");
    await driver.outcome();
    const [id] = lab.living();
    lab.cluster.run("scancel", "--batch", "--signal=USR1", id!);
    expect(await eventOf(driver, "warned: ")).toBe(
      `warned: Slurm ends job ${id} soon: it reaches its time limit, or is preempted`,
    );
    expect(lab.state(id!)).toBe("RUNNING");
    expect(driver.events().some((event) => event.startsWith("host-lost"))).toBe(false);
  });

  test("the controller of Slurm goes away while the job waits, and comes back", async () => {
    const other = await lab.occupyNow("--nodes=3", "--exclusive");
    const driver = lab.startDriver({});
    await eventOf(driver, "pending: job ");
    await lab.cluster.stopController();
    await eventOf(driver, "pending: Slurm does not answer: ");
    lab.cluster.startController();
    lab.cluster.run("scancel", other);
    expect((await driver.outcome()).names).toHaveLength(4);
    expect(await driver.exited).toBe(0);
  });

  // Slurm counts whole minutes.
  test.runIf(isLong)("a job reaches its time limit", async () => {
    const driver = lab.startDriver({ timeLimit: "1m" }, "wait");
    await driver.outcome();
    const [id] = lab.living();
    await eventOf(driver, `warned: Slurm ends job ${id} in `);
    await until(
      () => driver.events().at(-1)!.startsWith(`ended: Slurm has ended job ${id}: TIMEOUT (TimeLimit)`),
      250_000,
    );
    expect(lab.living()).toEqual([]);
  });
});
