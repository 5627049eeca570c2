import path from "node:path";
import { expect, test } from "vitest";
import { checkAddons } from "../../../runtime/sync/store/check-addons.js";
import type { SyncError } from "../../../runtime/sync/sync-error.js";
import { folderWith } from "../folder.js";

/** Returns the beginning of an addon for Linux. @param machine its number in the format of executables */
function elf(machine: number, library = "libc.so.6"): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.writeUInt16LE(machine, 18);
  bytes.write(library, 80);
  return bytes;
}

/** Returns the beginning of an addon for macOS. */
function mach(machine: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.writeUInt32BE(0xcffaedfe, 0);
  bytes.writeUInt32LE(machine, 4);
  return bytes;
}

function check(files: Readonly<Record<string, Buffer>>, platform: string): string {
  const folder = folderWith(files);
  try {
    checkAddons(folder, Object.keys(files), platform);
    return "fits";
  } catch (error) {
    expect((error as SyncError).code).toBe("addon-refused");
    return (error as Error).message.replace(/the host \S+ is/, "the host NAME is");
  }
}

const built = (what: string, host: string) =>
  `cannot use the addon node_modules/fast/build/fast.node: it is built for ${what}, and the host NAME is ${host}; run the sync on a ` +
  "machine like the host, or exclude node_modules/fast and install it on the host";

test.each([
  ["linux-x64", elf(62), "linux-x64", "fits"],
  ["linux-arm64", elf(183), "linux-x64", built("linux-arm64", "linux-x64")],
  ["linux-x64 with musl", elf(62, "libc.musl-x86_64.so.1"), "linux-x64", built("linux-x64-musl", "linux-x64")],
  ["linux-x64 with musl", elf(62, "libc.musl-x86_64.so.1"), "linux-x64-musl", "fits"],
  ["darwin-arm64", mach(0x0100000c), "linux-arm64", built("darwin-arm64", "linux-arm64")],
  ["darwin-arm64", mach(0x0100000c), "darwin-arm64", "fits"],
  ["no known form", Buffer.from("text"), "linux-x64", "fits"],
])("an addon for %s is checked against the host (%#)", (_, addon, platform, expected) => {
  expect(check({ "node_modules/fast/build/fast.node": addon }, platform)).toBe(expected);
});

test("a package with builds for several platforms fits if one of them does", () => {
  const files = {
    [path.join("node_modules/@a/fast/prebuilds/linux-arm64/fast.node")]: elf(183),
    [path.join("node_modules/@a/fast/prebuilds/linux-x64/fast.node")]: elf(62),
  };
  expect(check(files, "linux-x64")).toBe("fits");
  expect(check(files, "linux-riscv64")).toContain(
    "it is built for linux-arm64, linux-x64, and the host NAME is linux-riscv64",
  );
});

test("the addon that runs here fits this machine", () => {
  const folder = folderWith({ "node_modules/esbuild/bin/x.node": elf(process.arch === "arm64" ? 183 : 62) });
  checkAddons(folder, ["node_modules/esbuild/bin/x.node"]);
});
