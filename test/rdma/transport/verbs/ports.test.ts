import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { activePorts, commonBits, nearestPorts } from "../../../../runtime/rdma/transport/verbs/ports.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), "viceroy-ports-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const linkLocal = "fe80:0000:0000:0000:0000:00ff:fe00:0001";
const global = "2001:0db8:0000:0000:0000:0000:0000:0007";
const none = "0000:0000:0000:0000:0000:0000:0000:0000";

function ipv4(last: number): string {
  return `0000:0000:0000:0000:0000:ffff:0a4d:00${last.toString(16).padStart(2, "0")}`;
}

/** Writes files as the kernel shows them. Entries without a type are unused. */
function port(device: string, link: string, state: string, gids: readonly (readonly [gid: string, type?: string])[]) {
  const folder = path.join(root, device, "ports/1");
  mkdirSync(path.join(folder, "gids"), { recursive: true });
  mkdirSync(path.join(folder, "gid_attrs/types"), { recursive: true });
  writeFileSync(path.join(folder, "state"), `${state}\n`);
  writeFileSync(path.join(folder, "link_layer"), `${link}\n`);
  for (const [index, [gid, type]] of gids.entries()) {
    writeFileSync(path.join(folder, `gids/${index}`), `${gid}\n`);
    if (type !== undefined) writeFileSync(path.join(folder, `gid_attrs/types/${index}`), `${type}\n`);
  }
}

const gidOf = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(":", ""), "hex"));

test("a machine without RDMA has no ports", () => {
  expect(activePorts(undefined, path.join(root, "none"))).toEqual([]);
});

test("active ports are found, each with its address of the widest scope", () => {
  port("mlx5_0", "InfiniBand", "4: ACTIVE", [[linkLocal]]);
  port("rxe0", "Ethernet", "4: ACTIVE", [
    [linkLocal, "IB/RoCE v1"],
    [linkLocal, "RoCE v2"],
    [global, "RoCE v2"],
    [ipv4(1), "IB/RoCE v1"],
    [ipv4(1), "RoCE v2"],
    [none],
  ]);
  port("rxe1", "Ethernet", "1: DOWN", [[ipv4(2), "RoCE v2"]]);
  port("rxe2", "Ethernet", "4: ACTIVE", [[ipv4(3), "IB/RoCE v1"]]);
  expect(activePorts(undefined, root)).toEqual([
    { device: "mlx5_0", port: 1, gidIndex: 0, gid: gidOf(linkLocal), link: "infiniband" },
    { device: "rxe0", port: 1, gidIndex: 4, gid: gidOf(ipv4(1)), link: "ethernet" },
  ]);
});

test("an address is found behind freed entries, and a long empty table is not read completely", () => {
  const gap = (places: number) => Array.from({ length: places }, () => [none] as const);
  port("rxe0", "Ethernet", "4: ACTIVE", [[linkLocal, "RoCE v2"], ...gap(60), [ipv4(1), "RoCE v2"]]);
  port("rxe1", "Ethernet", "4: ACTIVE", [[linkLocal, "RoCE v2"], ...gap(64), [ipv4(2), "RoCE v2"]]);
  expect(activePorts(undefined, root).map(({ gidIndex }) => gidIndex)).toEqual([61, 0]);
});

test("VICEROY_RDMA_DEVICE selects one device, or one port of it", () => {
  port("rxe0", "Ethernet", "4: ACTIVE", [[ipv4(1), "RoCE v2"]]);
  port("rxe1", "Ethernet", "4: ACTIVE", [[ipv4(2), "RoCE v2"]]);
  const named = (only: string) => activePorts(only, root).map(({ device }) => device);
  expect(named("rxe1")).toEqual(["rxe1"]);
  expect(named("rxe1:1")).toEqual(["rxe1"]);
  expect(named("rxe1:2")).toEqual([]);
  expect(named("rxe")).toEqual([]);
});

test("the ports of the same kind with the longest common prefix are selected", () => {
  expect(commonBits(gidOf(ipv4(1)), gidOf(ipv4(1)))).toBe(128);
  expect(commonBits(gidOf(ipv4(1)), gidOf(ipv4(2)))).toBe(126);
  expect(commonBits(gidOf(global), gidOf(linkLocal))).toBe(0);
  port("rxe0", "Ethernet", "4: ACTIVE", [[global, "RoCE v2"]]);
  port("rxe1", "Ethernet", "4: ACTIVE", [[ipv4(1), "RoCE v2"]]);
  const ours = activePorts(undefined, root);
  const theirs = [
    { link: "infiniband", gid: gidOf(ipv4(1)) },
    { link: "ethernet", gid: gidOf(ipv4(9)) },
  ] as const;
  expect(nearestPorts(ours, theirs)).toEqual({ our: ours[1], their: theirs[1] });
  expect(nearestPorts(ours, theirs.slice(0, 1))).toBeUndefined();
  expect(nearestPorts([], theirs)).toBeUndefined();
});
