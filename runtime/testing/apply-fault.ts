/** Causes a planned fault in the state that the simulation has at that time. */
import type { Fault } from "./fault.js";
import type { SimulatedProcess } from "./simulated-process.js";
import type { World } from "./world.js";

/** The factor by which a fault of kind `slow` multiplies delays. */
const SLOW_FACTOR = 20;

/** @returns a description of the effect for people; undefined if the fault had no effect */
export function applyFault(world: World, program: SimulatedProcess, fault: Fault): string | undefined {
  const { kind, which, other, ms, processes: isChosen = (process) => process !== program } = fault;
  const others = [...world.living].filter((process) => process !== program);
  const chosen = others.filter(isChosen);
  const victim = pickByFraction(chosen, which);
  const pickHost = () =>
    pickByFraction(
      wholeHosts(others, chosen).filter((host) => host !== program.host),
      which,
    );
  switch (kind) {
    case "crash":
      victim?.kill();
      return victim?.name;
    case "crash-host":
      return crashHost(world, pickHost());
    case "pause":
      if (victim !== undefined) victim.busyUntil = world.scheduler.now + ms;
      return victim && `${victim.name} for ${ms.toFixed(0)} ms`;
    case "pause-host": {
      const host = pickHost();
      for (const process of others) if (process.host === host) process.busyUntil = world.scheduler.now + ms;
      return host && `${host} for ${ms.toFixed(0)} ms`;
    }
    case "cut":
    case "mute": {
      const between = [...world.network.connections].filter(
        (connection) =>
          connection.betweenHosts &&
          (fault.processes === undefined ||
            connection.members().some((end) => chosen.some((process) => process === end))),
      );
      const connection = pickByFraction(between, which);
      if (kind === "cut") connection?.cut();
      else connection?.mute();
      const [near, far] = connection?.members() ?? [];
      return connection && `${near!.name} - ${far!.name}`;
    }
    case "partition": {
      const hosts = hostsOf(world.processes);
      const chosenHosts = fault.processes === undefined ? hosts : wholeHosts([...world.living], chosen);
      const from = pickByFraction(chosenHosts, which);
      const to = pickByFraction(
        hosts.filter((host) => host !== from),
        other,
      );
      if (from === undefined || to === undefined) return undefined;
      world.network.block(from, to, ms);
      const oneWay = other * 1000 - Math.floor(other * 1000) < 0.5;
      if (!oneWay) world.network.block(to, from, ms);
      return `${from} ${oneWay ? "" : "<"}-x-> ${to} for ${ms.toFixed(0)} ms`;
    }
    case "slow":
      world.network.slowDown(SLOW_FACTOR, ms);
      return `for ${ms.toFixed(0)} ms`;
    case "skew":
      if (victim !== undefined) victim.clock.skew += (other - 0.5) * 2 * 3_600_000;
      return victim?.name;
  }
}

/** Kills all processes of a host. @returns the host, or undefined if none was given */
export function crashHost(world: World, host: string | undefined): string | undefined {
  if (host === undefined) return undefined;
  world.network.crashedHosts.add(host);
  for (const process of [...world.living]) {
    if (process.host === host) process.finish({ message: `host ${host} has crashed` }, true);
  }
  return host;
}

/** Returns the hosts all of whose processes are chosen. */
function wholeHosts(all: readonly SimulatedProcess[], chosen: readonly SimulatedProcess[]): string[] {
  const spared = new Set(hostsOf(all.filter((process) => !chosen.includes(process))));
  return hostsOf(chosen).filter((host) => !spared.has(host));
}

function hostsOf(processes: readonly SimulatedProcess[]): string[] {
  return [...new Set(processes.map(({ host }) => host))];
}

function pickByFraction<T>(list: readonly T[], which: number): T | undefined {
  return list[Math.floor(which * list.length)];
}
