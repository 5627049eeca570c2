/** A host whose disk is full, among others that have room. Its store is on a small file system that no other process sees. */
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { permitted } from "../../permitted.js";
import { makeProgram } from "./program.js";
import { startHosts } from "./start-hosts.js";

const namespaces = ["unshare", "--user", "--map-root-user", "--mount"] as const;
const hasNamespaces = permitted(
  "a host with a full disk",
  "mounts in a namespace of its own",
  spawnSync(namespaces[0], [...namespaces.slice(1), "true"]).status === 0,
);

/** The room in MiB that the other file on the disk leaves for the store: too little for a program with its packages. */
const roomLeft = 4;
const diskSize = 128;

/** Returns the command that runs a daemon whose cache is on a disk that another file fills almost completely. */
function onFullDisk(cache: string): readonly string[] {
  const enter =
    `mount -t tmpfs -o mode=0700,size=${diskSize}m tmpfs "$0" && ` +
    `head -c ${(diskSize - roomLeft) * 2 ** 20} /dev/zero > "$0/other" && exec "$@"`;
  return [...namespaces, "sh", "-c", enter, cache];
}

test.runIf(hasNamespaces)(
  "a full disk is the error of its host, the others have the tree, and the next sync succeeds when there is space",
  async () => {
    const { hosts, options, end } = await startHosts(3, {}, [], [], [undefined, onFullDisk]);
    const addresses = hosts.map(({ address }) => address);
    const program = await makeProgram(addresses, options);
    const sync = `
      await using hosts = attach();
      print(await hosts.sync().then(({ tree }) => tree, ({ name, code, message }) => ({ name, code, message })));
    `;
    const { value: failure } = await program.run(sync);
    const full = hosts[1]!;
    const store = path.join(full.cache, "viceroy", "code");
    const treesOn = ({ store: each }: { readonly store: string }) => readdirSync(path.join(each, "trees"));
    expect(failure).toMatchObject({ name: "SyncError", code: "host-failed" });
    expect(failure.message).toMatch(/^cannot bring the code to 1 of 3 hosts: host /);
    expect(failure.message).toContain(`host ${full.address}: `);
    expect(failure.message).toContain(
      ` on ${hostname()}: the disk is full (ENOSPC); free some space, or set XDG_CACHE_HOME to a folder on another disk, got ${store}`,
    );
    const trees = [treesOn(hosts[0]!), treesOn(hosts[2]!)];
    expect(trees[0]).toHaveLength(1);
    expect(trees[1]).toEqual(trees[0]);

    const inside = ["--target", String(full.child.pid), "--user", "--preserve-credentials", "--mount"];
    execFileSync("nsenter", [...inside, "rm", path.join(full.cache, "other")]);
    const { value } = await program.run(`
      await using hosts = attach();
      const { tree } = await hosts.sync();
      print({ tree, texts: await values(hosts.spawnProcs().spawn("sites", Here).text.call()) });
    `);
    end();
    expect(value).toEqual({ tree: trees[0]![0], texts: ["first", "first", "first"] });
  },
);
