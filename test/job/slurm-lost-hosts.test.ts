/** Tests of hosts on a real cluster of Slurm that are lost and come back: killed and stopped daemons, and nodes that fail. */
import { expect, test } from "vitest";
import { gone, until } from "../proc/until.js";
import type { JobDriver } from "./job-driver.js";
import { onSlurm, type SlurmLab } from "./lab/slurm-tests.js";
import { running } from "./lab/ssh-drivers.js";

/** The processes of the crew, as the program has printed them last. */
const crewOf = ({ printed }: JobDriver) => printed.filter(({ pids }) => pids !== undefined).at(-1)!;
const kindsOf = ({ printed }: JobDriver) =>
  printed.flatMap(({ event }) => (event?.rank === undefined ? [] : [`${event.kind} ${event.rank}`]));
const isBack = (driver: JobDriver, rank: number, before: number) =>
  kindsOf(driver).includes(`host-replaced ${rank}`) && crewOf(driver).pids![rank] !== before;

async function startCrew(lab: SlurmLab, options: object = {}): Promise<JobDriver> {
  const driver = lab.startDriver({ slurm: true, ...options }, "wait", lab.cluster.env, "on-lost-hosts.ts");
  await driver.outcome();
  return driver;
}

/** Returns the daemon of the host on a node. */
function daemonOn(lab: SlurmLab, node: string): number {
  const [daemon, ...others] = running(/^\S*node \S+viceroy\.js host /, lab.cluster.nodes[node]!.machine.pids);
  expect(others).toEqual([]);
  return daemon!;
}

onSlurm("a host of a job of Slurm that is lost comes back at its rank", (lab) => {
  test("after its daemon was killed, on the same node, and what it has left ends", async () => {
    const driver = await startCrew(lab);
    const { pids, names } = crewOf(driver);
    const [first, second] = pids as [number, number];
    // A process that is stopped does not notice that its host is gone.
    process.kill(second, "SIGSTOP");
    process.kill(daemonOn(lab, names![1]!), "SIGKILL");
    await until(() => isBack(driver, 1, second));
    expect(gone(second)).toBe(true);
    expect(crewOf(driver).pids![0]).toBe(first);
    expect(crewOf(driver).names).toEqual(names);
    expect(kindsOf(driver).slice(-2)).toEqual(["host-lost 1", "host-replaced 1"]);
    const { event } = driver.printed.find(({ event }) => event?.kind === "host-lost")!;
    expect(event!.reason).toMatch(
      /^host workers\[1\] at tls:\/\/n2:\d+#viceroy:\/\/[^/]+\/hosts\/workers\/1 does not answer any more$/,
    );
    expect(lab.living()).toHaveLength(1);
  });

  test("after its daemon was stopped, which is ended first", async () => {
    const driver = await startCrew(lab, { tls: false });
    const { pids, names } = crewOf(driver);
    const [first, second] = pids as [number, number];
    const daemon = daemonOn(lab, names![1]!);
    process.kill(daemon, "SIGSTOP");
    await until(() => isBack(driver, 1, second));
    expect([gone(daemon), gone(second), crewOf(driver).pids![0]]).toEqual([true, true, first]);
  });

  test("again and again", async () => {
    const driver = await startCrew(lab);
    for (let times = 1; times <= 2; times++) {
      const [before] = crewOf(driver).pids!;
      process.kill(daemonOn(lab, "n1"), "SIGKILL");
      await until(
        () =>
          kindsOf(driver).filter((kind) => kind === "host-replaced 0").length === times && isBack(driver, 0, before!),
      );
    }
  });

  test("after its node has failed and Slurm has started the job again, on other nodes", async () => {
    const driver = await startCrew(lab);
    const { pids } = crewOf(driver);
    const [id] = lab.living();
    await lab.cluster.killNode("n2");
    lab.cluster.run("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=burnt");
    await until(() => lab.state(id!) === "PENDING");
    // Slurm waits two minutes before it starts a requeued job. For a moment, the nodes refuse a job that they have just ended.
    lab.cluster.run("scontrol", "update", `JobId=${id}`, "StartTime=now+4");
    await until(() => isBack(driver, 0, pids![0]!) && isBack(driver, 1, pids![1]!));
    await until(() => crewOf(driver).names!.join() === "n1,n3");
    expect(lab.living()).toEqual([id]);
    lab.cluster.startNode("n2");
  });

  test("but not where nobody waits for it: the job ends", async () => {
    const driver = lab.startDriver({ hostTimeout: { lost: 0 } }, "wait");
    await driver.outcome();
    const [id] = lab.living();
    process.kill(daemonOn(lab, "n2"), "SIGKILL");
    await until(() => driver.events().some((event) => event.startsWith(`ended: Slurm has ended job ${id}: FAILED`)));
  });
});
