#!/usr/bin/env node
/** The command line: the list of commands and their exit codes. Each command is a file in `commands/`. */
import type { Command } from "commander";
import { ConfigError } from "../config/index.js";
import { GitError } from "../git/git-error.js";
import { fileErrorText } from "../output/file-error.js";
import { exitCode, processIo } from "./io.js";
import type { Project } from "./project.js";
import { version } from "./version.js";

// A closed pipe, such as that of `head`, is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    // `viceroy compile` is the most frequent command and usually has nothing to do. It runs without the argument
    // parser.
    if (args.length === 1 && args[0] === "compile") return await runCompile(false, false, false);
    return await parse(args);
  } catch (error) {
    const text = error instanceof ConfigError || error instanceof GitError ? error.message : fileErrorText(error);
    if (text === undefined) throw error;
    processIo.err(text);
    return exitCode.usage;
  }
}

async function parse(args: readonly string[]): Promise<number> {
  const { Command, CommanderError } = await import("commander");
  let code: number = exitCode.ok;
  const program = defineCommands(new Command("viceroy"), (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.ok : exitCode.usage;
    throw error;
  }
}

function defineCommands(program: Command, end: (code: number) => void): Command {
  program
    .description("Schema-first actor RPC for TypeScript.")
    .version(version)
    .exitOverride()
    .showSuggestionAfterError()
    .enablePositionalOptions();

  program
    .command("init [folder]")
    .description("write a small project that runs; never overwrites")
    .action(async (folder = ".") => {
      const { init } = await import("./commands/init.js");
      end(await init(folder, processIo));
    });

  program
    .command("compile")
    .description("compile the schemas of the project in this folder")
    .option("--check", "write no files; exit with 1 if generated code or the lock is not up to date")
    .option("--watch", "compile after every change; ids of new members stay drafts")
    .option("--json", "print one diagnostic per line, as JSON")
    .option("--base <ref>", "the ref whose ids must not vanish; default: the published branch, if there is one")
    .option("--no-base", "do not compare the lock with an earlier one")
    .option("--accept <place...>", "accept the breaking changes of members such as Tree.age, and add them to the lock")
    .action(async ({ check = false, watch = false, json = false, base, accept = [] }) => {
      if (accept.length > 0 && (check || watch)) program.error("cannot compile: --accept excludes --check and --watch");
      if (check && watch) program.error("cannot compile: --check and --watch exclude each other");
      if (typeof base === "string" && watch) program.error("cannot compile: --base and --watch exclude each other");
      end(await runCompile(check, watch, json, base, accept));
    });

  program
    .command("break")
    .description("list the breaking changes since a commit or relative to another folder")
    .requiredOption("--against <git ref | folder>", "the version to compare with: main, HEAD~1, ../released")
    .option("--class <classes>", "WIRE, SOURCE, BEHAVIOUR or DANGEROUS, or several separated by commas; default: all")
    .option("--json", "print one finding per line, as JSON")
    .action(async ({ against, class: classes, json = false }) => {
      const { breakCommand } = await import("./commands/break.js");
      end(await breakCommand(await project(), { against, classes, json }, processIo));
    });

  program
    .command("explain <code>")
    .description("print the documentation of a code such as VC1107")
    .action(async (code: string) => {
      const { explain } = await import("./commands/explain.js");
      end(explain(code, processIo));
    });

  program
    .command("rename <member> <name>")
    .description("rename a field, endpoint or value in the schema and in the lock: rename Entry.ttl expiry")
    .action(async (member: string, name: string) => {
      const { rename } = await import("./commands/rename.js");
      end(await rename(await project(), member, name, processIo));
    });

  lockCommands(program.command("lock").description("merge locks, in git or by hand"), end);

  program
    .command("run <script> [arguments...]")
    .description("run a TypeScript or JavaScript program with the registry of actors loaded")
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (script: string, args: readonly string[]) => {
      const { run } = await import("./commands/run.js");
      end(await run(script, args, await configIfAny(), processIo));
    });

  program
    .command("repl")
    .description("start a prompt with top-level await and all generated modules")
    .action(async () => {
      const { repl } = await import("./commands/repl.js");
      end(await repl(await (await project()).config(), processIo));
    });

  program
    .command("host")
    .description("let drivers on other machines start processes on this one, until the command ends")
    .option(
      "--listen <address>",
      "unix:///path, tcp://host:port or tls://host:port; can be given several times",
      collectOption,
      [],
    )
    .option("--token-file <file>", "the token that drivers must present; default: VICEROY_TOKEN, if it is set")
    .option("--cert <file>", "for tls://: the certificate of this host, PEM")
    .option("--key <file>", "for tls://: the key of this host, PEM")
    .option("--ca <file>", "for tls://: the authority of the certificates that drivers must present, PEM")
    .option("--insecure", "accept all connections from the network, without token and TLS")
    .option("--single-port", "do not let processes listen on ports: the daemon forwards their messages")
    .action(async (options) => {
      const { host } = await import("./commands/host.js");
      end(await host(options, processIo));
    });

  program
    .command("setup")
    .description("build the optional native addons with g++")
    .option("--rdma", "one-sided memory access between processes of a machine; the default")
    .option("--tensor", "tensors, with the installed libtorch")
    .action(async (options) => {
      const { setup } = await import("./commands/setup.js");
      end(await setup(options, processIo));
    });

  program
    .command("doctor")
    .description("check this machine and this project, and print what is missing and how to fix it")
    .action(async () => {
      const { doctor } = await import("./commands/doctor.js");
      const { rdmaSupport } = await import("./rdma-support.js");
      end(await doctor(process.cwd(), processIo, isInStep, rdmaSupport()));
    });

  return program;
}

/** Collects the values of an option that is given several times. */
function collectOption(value: string, others: readonly string[]): readonly string[] {
  return [...others, value];
}

function lockCommands(lock: Command, end: (code: number) => void): void {
  lock
    .command("merge [base] [ours] [theirs] [size] [path]")
    .description(
      "merge two versions of the lock, as git's merge driver; without arguments: the lock that git has left in conflict",
    )
    .action(async (...given: readonly unknown[]) => {
      const [base, ours, theirs, size, name] = given.filter((value) => typeof value === "string");
      const { runMergeDriver, mergeConflictedLock } = await import("./commands/lock-merge.js");
      if (base === undefined) return end(await mergeConflictedLock(await project(), processIo));
      if (ours === undefined || theirs === undefined)
        lock.error("cannot merge: expected the files of base, ours and theirs");
      const markSize = Number(size ?? 7);
      if (!Number.isInteger(markSize) || markSize < 1)
        lock.error(`cannot merge: expected the size of marks, got "${size}"`);
      end(runMergeDriver({ base, ours, theirs, markSize, path: name ?? ours }, processIo));
    });

  lock
    .command("install")
    .description("make git merge the lock with `viceroy lock merge`")
    .action(async () => {
      const { installMergeDriver } = await import("./commands/lock-install.js");
      end(await installMergeDriver(await project(), processIo));
    });
}

async function project() {
  const { Project } = await import("./project.js");
  return new Project(process.cwd());
}

/**
 * Returns the config, or undefined outside of any project.
 * @throws ConfigError if the config is invalid
 */
async function configIfAny() {
  let found: Project;
  try {
    found = await project();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
  return found.configIfUnchanged() ?? (await found.config());
}

async function runCompile(
  check: boolean,
  watching: boolean,
  json: boolean,
  base?: string | false,
  accept: readonly string[] = [],
): Promise<number> {
  if (watching) {
    const { watch } = await import("./commands/watch.js");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    return watch(process.cwd(), json, processIo, stop.signal);
  }
  const { compile } = await import("./commands/compile.js");
  return compile(
    await project(),
    { check, json, draft: false, accept, ...(base !== undefined && { base }) },
    processIo,
  );
}

async function isInStep(): Promise<boolean | undefined> {
  const { compile } = await import("./commands/compile.js");
  const quiet = { out() {}, err() {} };
  try {
    const code = await compile(await project(), { check: true, json: true, draft: false, base: false }, quiet);
    return code === exitCode.schema ? undefined : code === exitCode.ok;
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}
