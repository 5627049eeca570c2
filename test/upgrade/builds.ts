/** Builds of one package, each in a folder of its own with its schema, its lock and its generated code, made by the compiler. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const fixtures = fileURLToPath(new URL("../fixtures/upgrade/", import.meta.url));
const root = fileURLToPath(new URL("../../", import.meta.url));
const cli = path.join(root, "dist/cli/viceroy.js");

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Builds {
  readonly folder = mkdtempSync(path.join(tmpdir(), "viceroy-upgrade-"));

  /** @param names of builds, the first of which the lock of the others goes on from */
  constructor(...names: string[]) {
    mkdirSync(path.join(this.folder, "node_modules"));
    for (const name of ["viceroy", "tsx"]) {
      const target = name === "viceroy" ? root : path.join(root, "node_modules", name);
      symlinkSync(target, path.join(this.folder, "node_modules", name));
    }
    for (const name of names) {
      const build = path.join(this.folder, name);
      cpSync(path.join(fixtures, name), build, { recursive: true });
      cpSync(path.join(fixtures, "programs"), path.join(build, "programs"), { recursive: true });
      cpSync(path.join(fixtures, "config.ts"), path.join(build, "viceroy.config.ts"));
      writeFileSync(path.join(build, "package.json"), `${JSON.stringify({ name: "weather", type: "module" })}\n`);
      if (name !== names[0]) {
        cpSync(path.join(this.folder, names[0]!, "viceroy.lock"), path.join(build, "viceroy.lock"));
      }
      execFileSync(process.execPath, [cli, "compile"], { cwd: build, stdio: ["ignore", "ignore", "inherit"] });
    }
  }

  /** A build that is made of another one by changing its sources. */
  derive(name: string, from: string, change: (folder: string) => void): void {
    const build = path.join(this.folder, name);
    cpSync(path.join(this.folder, from), build, { recursive: true });
    rmSync(path.join(build, "generated"), { recursive: true });
    change(build);
    execFileSync(process.execPath, [cli, "compile"], { cwd: build, stdio: ["ignore", "ignore", "inherit"] });
  }

  registry(name: string): string {
    return path.join(this.folder, name, "generated/registry.ts");
  }

  /** Runs a program of a build. */
  run(name: string, program: string, ...args: string[]): Promise<Outcome> {
    const cwd = path.join(this.folder, name);
    return new Promise((resolve) => {
      const child = execFile(
        process.execPath,
        ["--import", "tsx", path.join("programs", program), ...args],
        { cwd, maxBuffer: 1 << 26, timeout: 250_000 },
        (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
      );
    });
  }
}
