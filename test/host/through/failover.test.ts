/**
 * Tests that a driver keeps its hosts when its gateway is killed, upgraded, stopped or replaced by another one, with real processes. Each
 * call adds a line to a file, so a call that is lost, repeated or overtaken shows.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attachHosts } from "viceroy";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Crew, loadCrew } from "../../proc/crew.js";
import { collectUnhandledFaults } from "../../proc/unhandled-faults.js";
import { gone, until } from "../../proc/until.js";
import { attachPatiently, lossSilence } from "../attach-patiently.js";
import { startProxy } from "../proxy.js";
import { type RunningHost, startHost } from "../start-host.js";
import { areConnected } from "../tcp-connections.js";

let crew: Crew;
const faults = collectUnhandledFaults();
const warnings: string[] = [];
const warned = ({ message }: Error) => void warnings.push(message);
beforeAll(async () => {
  crew = await loadCrew();
});
beforeEach(() => {
  warnings.length = 0;
  process.on("warning", warned);
});
afterEach(() => {
  process.off("warning", warned);
  expect(faults.splice(0)).toEqual([]);
});

const token = "a token of more than enough characters";
const start = (address = "tcp://127.0.0.1:0") => startHost(address, [], { VICEROY_TOKEN: token });

/** Calls an actor every few milliseconds. */
class Load {
  readonly #file = join(mkdtempSync(join(tmpdir(), "failover-")), "calls");
  readonly #answers: PromiseLike<void>[] = [];
  readonly #call: (file: string, word: string) => PromiseLike<void>;

  constructor(call: (file: string, word: string) => PromiseLike<void>) {
    this.#call = call;
  }

  /** Makes further calls. */
  async add(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#answers.push(this.#call(this.#file, `${this.#answers.length}`));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  /** Goes on until the driver has another gateway, and some calls more. */
  async untilMoved(times = 1): Promise<void> {
    await until(async () => {
      await this.add(5);
      return warnings.filter((text) => text.includes("; the driver goes on through ")).length >= times;
    });
    await this.add(50);
  }

  /** Checks that each call was handled once and in order. */
  async check(): Promise<void> {
    await Promise.all(this.#answers);
    const lines = readFileSync(this.#file, "utf8").trim().split("\n");
    expect(lines.map(Number.parseFloat)).toEqual(this.#answers.map((_, i) => i));
  }
}

/** Attaches a host through gateways, and calls an actor there. */
async function attach(host: RunningHost, through: string | readonly string[], absence = 60_000) {
  const hosts = attachPatiently([host.address], { token, through, absence });
  const worker = hosts.spawnProcs().spawn("workers", crew.SteelWorker).slice({ hosts: 0 });
  const { pid } = await worker.where.callOne();
  const load = new Load((file, word) => worker.log.callOne(file, word));
  await load.add(20);
  return { hosts, load, pid };
}

const endings = { SIGKILL: "killed", SIGTERM: "ended by an upgrade" } as const;

test.each(Object.entries(endings))(
  "%s: a gateway that is %s and started again keeps the driver's hosts",
  async (signal) => {
    const [gateway, one] = await Promise.all([start(), start()]);
    const { hosts, load, pid } = await attach(one, gateway.address);
    gateway.child.kill(signal as "SIGKILL");
    await gateway.exited;
    await load.add(50);
    const next = await start(gateway.address);
    await load.untilMoved();
    await load.check();
    // Something watches the hosts again.
    await until(() => next.drivers().length === 1);
    expect(warnings).toEqual([expect.stringContaining(`; the driver goes on through ${gateway.address}`)]);
    expect(gone(pid)).toBe(false);
    await hosts.stop();
    await until(() => gone(pid) && next.drivers().length === 0);
  },
);

test("a gateway that is killed again and again keeps the driver's hosts", async () => {
  const [first, one] = await Promise.all([start(), start()]);
  const { hosts, load } = await attach(one, first.address);
  let gateway = first;
  for (let times = 1; times <= 4; times++) {
    gateway.child.kill("SIGKILL");
    await gateway.exited;
    gateway = await start(first.address);
    await load.untilMoved(times);
  }
  await load.check();
  await hosts.stop();
});

test.each(Object.entries(endings))(
  "%s: when a gateway is %s, the next one of the list takes its place",
  async (signal) => {
    const [first, second, one] = await Promise.all([start(), start(), start()]);
    const { hosts, load, pid } = await attach(one, [first.address, second.address]);
    expect([first.drivers().length, second.drivers().length]).toEqual([1, 0]);
    first.child.kill(signal as "SIGKILL");
    await load.untilMoved();
    await load.check();
    await until(() => second.drivers().length === 1);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(first.address);
    expect(warnings[0]).toMatch(new RegExp(`; the driver goes on through ${second.address}$`));
    expect(areConnected(process.pid, second.child.pid!)).toBe(true);
    await hosts.stop();
    await until(() => gone(pid) && second.drivers().length === 0);
  },
);

test("a stopped gateway is left for the next one, and does no harm when it goes on", async () => {
  const [first, second, one] = await Promise.all([start(), start(), start()]);
  const { hosts, load, pid } = await attach(one, [first.address, second.address]);
  first.child.kill("SIGSTOP");
  await load.untilMoved();
  expect(warnings).toEqual([
    `the driver gateway ${first.address} was left: it does not answer; the driver goes on through ${second.address}`,
  ]);
  first.child.kill("SIGCONT");
  // It ends what the driver has there, and hosts do not take the driver for ended because of that.
  await until(() => first.drivers().length === 0);
  await load.add(100);
  await load.check();
  expect([gone(pid), second.drivers().length]).toEqual([false, 1]);
  await hosts.stop();
});

test("a stopped gateway is left also while the driver sends nothing", async () => {
  const [first, second, one] = await Promise.all([start(), start(), start()]);
  const { hosts, load } = await attach(one, [first.address, second.address]);
  first.child.kill("SIGSTOP");
  await until(() => warnings.length > 0);
  first.child.kill("SIGKILL");
  await load.add(50);
  await load.check();
  expect(warnings[0]).toContain(`; the driver goes on through ${second.address}`);
  await hosts.stop();
});

test("the first gateway need not be there, and the error names all that are not", async () => {
  const [second, one] = await Promise.all([start(), start()]);
  const absent = "tcp://127.0.0.1:9";
  const { hosts, load } = await attach(one, [absent, second.address]);
  await load.check();
  await hosts.stop();
  await using lost = attachHosts([one.address], { token, timeout: 1000, through: [absent, "tcp://127.0.0.1:10"] });
  await expect(lost.ready).rejects.toThrow(
    `cannot attach host ${one.address}: cannot reach any driver gateway: ${absent}: connect ECONNREFUSED 127.0.0.1:9; ` +
      "tcp://127.0.0.1:10: connect ECONNREFUSED 127.0.0.1:10",
  );
});

test("when a gateway that is one of the hosts is killed, this host alone is lost", async () => {
  const [first, second, one] = await Promise.all([start(), start(), start()]);
  const hosts = attachPatiently([first.address, one.address, second.address], {
    ...{ token, through: [first.address, second.address], silence: lossSilence() },
  });
  const workers = hosts.spawnProcs().spawn("workers", crew.SteelWorker);
  await workers.where.call();
  const load = new Load((file, word) => workers.slice({ hosts: 1 }).log.callOne(file, word));
  await load.add(20);
  first.child.kill("SIGKILL");
  await load.untilMoved();
  await load.check();
  await until(() => faults.length > 0);
  expect(faults.splice(0).join("\n")).toContain(first.address);
  const settled = [...(await workers.echo.callSettled("there?")).values()].map(({ status }) => status);
  expect(settled).toEqual(["rejected", "fulfilled", "fulfilled"]);
  await hosts.stop();
});

test("a gateway that the driver does not reach for longer than the absence is lost, and its hosts end", async () => {
  const [gateway, one] = await Promise.all([start(), start()]);
  const proxy = await startProxy(gateway.address);
  const { hosts, load, pid } = await attach(one, [proxy.address, "tcp://127.0.0.1:9"], 2000);
  await load.check();
  proxy.freeze();
  const worker = hosts.spawnProcs();
  await expect(worker.ready).rejects.toThrow(
    `the driver gateway ${proxy.address} is gone, and none took its place within 2000 ms: `,
  );
  await until(() => gone(pid));
  await until(() => faults.length > 0);
  faults.length = 0;
});

test.each([
  [{ through: [] }, "cannot attach hosts: expected an address, or a list of them, as through, got an array of 0"],
  [{ through: ["tcp://n1", "tcp://n1:26600"] }, "cannot attach hosts: tcp://n1:26600 is named twice"],
  [{ through: ["tcp://n1", 7] }, "cannot attach hosts: expected addresses as text, got 7"],
])("lists of gateways that cannot be used are refused: %j", (options, expected) => {
  expect(() => attachHosts(["tcp://n2"], { token, ...(options as { through: string[] }) })).toThrow(expected);
});
