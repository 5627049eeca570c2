/**
 * The command line: the list of commands and their exit codes. `viceroy.ts` loads it. This file belongs to the package `viceroy`, which is
 * installed in production. Commands that read schemas are in the package `@viceroy/compiler`
 * (compiler-commands.ts) and are loaded when they are called.
 */
import type { Command } from "commander";
import { fileErrorText } from "../output/file-error.js";
import { version } from "../version.js";
import type { JobOptions } from "./commands/job.js";
import { findCompiler, loadCompiler } from "./compiler-package.js";
import { exitCode, processIo } from "./io.js";

// A closed pipe, such as that of `head`, is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    // The most frequent command runs without the argument parser.
    if (args.length === 1 && args[0] === "compile") {
      return await (await loadCompiler("compile")).runCompile({}, processIo);
    }
    return await parse(args);
  } catch (error) {
    const text = isUserError(error) ? error.message : fileErrorText(error);
    if (text === undefined) throw error;
    processIo.err(text);
    return exitCode.usage;
  }
}

/**
 * Returns whether an error is a mistake of the user, whose message is printed without a stack. The errors are compared
 * by name, because those of `@viceroy/compiler` have classes of their own.
 */
function isUserError(error: unknown): error is Error {
  return error instanceof Error && ["ConfigError", "GitError", "CompilerPackageError"].includes(error.name);
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
      end(await (await loadCompiler("init")).runInit(folder, processIo));
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
    .action(async (options) => {
      const { check = false, watch = false, base, accept = [] } = options;
      if (accept.length > 0 && (check || watch)) program.error("cannot compile: --accept excludes --check and --watch");
      if (check && watch) program.error("cannot compile: --check and --watch exclude each other");
      if (typeof base === "string" && watch) program.error("cannot compile: --base and --watch exclude each other");
      end(await (await loadCompiler("compile")).runCompile(options, processIo));
    });

  program
    .command("break")
    .description("list the breaking changes since a commit or relative to another folder")
    .requiredOption("--against <git ref | folder>", "the version to compare with: main, HEAD~1, ../released")
    .option("--class <classes>", "WIRE, SOURCE, BEHAVIOUR or DANGEROUS, or several separated by commas; default: all")
    .option("--json", "print one finding per line, as JSON")
    .action(async ({ against, class: classes, json = false }) => {
      end(await (await loadCompiler("break")).runBreak({ against, classes, json }, processIo));
    });

  program
    .command("explain <code>")
    .description("print the documentation of a code such as VC1107")
    .action(async (code: string) => {
      end(await (await loadCompiler("explain")).runExplain(code, processIo));
    });

  program
    .command("rename <member> <name>")
    .description("rename a field, endpoint or value in the schema and in the lock: rename Entry.ttl expiry")
    .action(async (member: string, name: string) => {
      end(await (await loadCompiler("rename")).runRename(member, name, processIo));
    });

  lockCommands(program.command("lock").description("merge locks, in git or by hand"), end);

  program
    .command("run <script> [arguments...]")
    .description("run a TypeScript or JavaScript program with the registry of actors loaded")
    .passThroughOptions()
    .allowUnknownOption()
    .action(async (script: string, args: readonly string[]) => {
      const { run } = await import("./commands/run.js");
      const { configIfAny } = await import("./project-config.js");
      end(await run(script, args, await configIfAny("run"), processIo));
    });

  program
    .command("repl")
    .description("start a prompt with top-level await and all generated modules, and the job of a module attached")
    .option("--job <module>", "attach the running job that a module exports, such as src/job.ts; never submits it")
    .option("--export <name>", "the name of the export", "default")
    .option("--read-only", "with --job: only look at it; its hosts refuse everything that changes something")
    .action(async (options) => {
      if (options.readOnly === true && options.job === undefined)
        program.error("cannot start: --read-only needs --job");
      const { repl, jobRepl } = await import("./commands/repl.js");
      const { configIfAny, configOfProject } = await import("./project-config.js");
      if (options.job !== undefined) return end(await jobRepl(options, await configIfAny("repl"), processIo));
      end(await repl(await configOfProject("repl"), processIo));
    });

  program
    .command("host")
    .description("let drivers on other machines start processes on this one, until the command ends")
    .option(
      "--listen <address>",
      "unix:///path, tcp://host:port, tls://host:port, or ws://host:port for drivers; can be given several times",
      collectOption,
      [],
    )
    .option("--token-file <file>", "the token that drivers must present; default: VICEROY_TOKEN, if it is set")
    .option("--cert <file>", "for tls:// and ws://: the certificate of this host, PEM")
    .option("--key <file>", "for tls:// and ws://: the key of this host, PEM")
    .option("--ca <file>", "for tls:// and ws://: the authority of the certificates that drivers must present, PEM")
    .option("--issuer <address>", "for a host of a job: the tcp:// address of the process that signs its certificate")
    .option("--identity <uri>", "for a host of a job: viceroy://<job>/hosts/<mesh>/<rank>")
    .option("--secret-file <file>", "for a host of a job: the file with the secret that works for one certificate")
    .option("--insecure", "accept all connections from the network, without token and TLS")
    .option("--single-port", "do not let processes listen on ports: the daemon forwards their messages")
    .option("--print", "print what processes print, too, each line marked with the name of the process")
    .option("--lifeline", "end when standard input ends")
    .option("--idle <ms>", "end after this time without a driver")
    .option("--spares <n>", "processes that wait to become those of drivers, 2 by default")
    .action(async (options) => {
      const { host } = await import("./commands/host.js");
      end(await host(options, processIo));
    });

  controllerCommands(program.command("controller"), end);

  jobCommands(
    program
      .command("job")
      .description("submit, look at and kill the job that a module exports")
      .enablePositionalOptions(),
    end,
  );

  program
    .command("setup")
    .description("build the optional native addons with g++")
    .option("--rdma", "one-sided memory access between processes of a machine; the default")
    .option("--tensor", "tensors, with the installed libtorch")
    .option("--stack", "the place of each tensor operation in the program, for this version of Node.js")
    .option("--force", "build the addon for memory access even if an installed package contains it")
    .action(async (options) => {
      const { setup } = await import("./commands/setup.js");
      end(await setup(options, processIo));
    });

  program
    .command("doctor")
    .description(
      "check this machine and this project, or hosts that ssh reaches, and print what is missing and how to fix it",
    )
    .option("--ssh <host>", "check a host instead, as ssh knows it; can be given several times", collectOption, [])
    .option(
      "--job <module>",
      "use the options of the SSHJob that a module exports, and its hosts unless --ssh names some",
    )
    .option("--export <name>", "the name of the export", "default")
    .option("--json", "with --ssh or --job: print one finding per line, as JSON")
    .action(async (options) => {
      if (options.ssh.length > 0 || options.job !== undefined) {
        const { doctorSsh } = await import("./commands/doctor-ssh.js");
        const { configIfAny } = await import("./project-config.js");
        return end(await doctorSsh(options, await configIfAny("doctor"), processIo));
      }
      if (options.json) program.error("cannot check: --json needs --ssh or --job");
      const { doctor } = await import("./commands/doctor.js");
      const { rdmaSupport } = await import("./rdma-support.js");
      const compiler = await findCompiler("doctor");
      end(await doctor(process.cwd(), processIo, compiler && (() => compiler.isInStep()), rdmaSupport()));
    });

  return program;
}

function controllerCommands(command: Command, end: (code: number) => void): void {
  const namespace = ["--namespace <name>", "the namespace of the controller", "viceroy-system"] as const;
  const lease = [
    "--lease <duration>",
    "the time after which hosts end whose program gives no sign of life",
    "60s",
  ] as const;
  const rules = ["--rules <file>", "the rules, YAML or JSON: who may have which hosts"] as const;
  command
    .command("run")
    .description("give hosts to programs in pods of jobs of Kubernetes, by rules, until SIGTERM")
    .requiredOption(...rules)
    .option(...namespace)
    .option("--listen <address>", "the address and port of the HTTPS server", "0.0.0.0:8443")
    .option(...lease)
    .option("--kubeconfig <file>", "the kubeconfig file; default: the service account of the pod, or that of kubectl")
    .action(async (options) => {
      const { controller } = await import("./commands/controller.js");
      end(await controller(options, processIo));
    });
  command
    .command("manifest")
    .description("print all objects of the controller in Kubernetes as YAML, for kubectl apply")
    .requiredOption(...rules)
    .requiredOption("--image <name>", "an image with Node.js and the package viceroy, whose command is on the PATH")
    .option(...namespace)
    .option(...lease)
    .action(async (options) => {
      const { controllerManifest } = await import("./commands/controller.js");
      end(await controllerManifest(options, processIo));
    });
  command.description("run, or print the objects of, the controller that gives hosts to programs in pods");
}

function jobCommands(program: Command, end: (code: number) => void): void {
  program
    .command("list")
    .description("print the jobs that were submitted under the working directory; never submits")
    .option("--json", "print JSON, one job per line")
    .action(async (options) => {
      const { listJobs } = await import("./commands/job.js");
      end(await listJobs(options));
    });
  const texts = {
    apply: "submit the job, unless it runs",
    state: "print what runs of the job; never submits; exit with 1 if nothing does",
    kill: "end the job and everything that runs on its hosts",
    stop: "stop the machines of a job of SkyPilot; apply starts them again",
    logs: "print what the hosts have printed, also after the end",
    exec: "run a command on the hosts of the running job, and exit with the worst of its exit codes",
    run: "run a command inside the allocation, and exit with its exit code",
    port: "make a port of a host reachable at this machine, until Ctrl-C",
    spmd: "run a script of one process per rank on the hosts of the job, and exit with the code of the first that fails",
    sync: "bring the code of the program to the hosts of the running job, before its next run does",
    resize: "change the numbers of hosts of the running job, and return when the new ones are up",
    manifest: "print the objects of a job of Kubernetes, or the tasks of a job of SkyPilot, as YAML; submits nothing",
    rbac: "print the permissions that a driver of a job of Kubernetes and the pod of its command need; submits nothing",
    context: "print which cluster and namespace a job of Kubernetes uses, and as whom; submits nothing",
  };
  for (const [name, description] of Object.entries(texts)) {
    const command = program
      .command(name)
      .description(description)
      .requiredOption("--job <module>", "the module that exports the job, such as src/job.ts")
      .option("--export <name>", "the name of the export", "default")
      .option("--json", "print JSON, one value per line");
    if (name === "logs") command.option("--follow", "wait for further lines until the job has ended");
    if (name === "state") command.option("--watch", "go on with what happens to the job until it has ended");
    if (name === "state") {
      command.option("--read-only", "only look: print who uses the hosts, with rights that can change nothing");
    }
    if (name === "logs") command.option("--read-only", "only look, with rights that can change nothing");
    if (name === "run") command.option("--detach", "return when the job has all that the command needs");
    const whole = (option: string) => (text: string) =>
      /^\d+$/.test(text)
        ? Number(text)
        : command.error(`cannot run a command: expected ${option} as a whole number, got "${text}"`);
    if (name === "exec") {
      command
        .option("--mesh <name>", "the mesh of the hosts; default: all meshes")
        .option("--rank <rank>", "the rank of the host in its mesh; default: all ranks", whole("--rank"));
    }
    if (name === "port") {
      command
        .argument("<port>", "a port of the host, or a port here and one there: 9000:8080")
        .option("--mesh <name>", "the mesh of the host; default: the first mesh")
        .option("--rank <rank>", "the rank of the host in its mesh; default: 0", whole("--rank"));
    }
    if (name === "sync") {
      command
        .option("--mesh <name>", "the mesh of the hosts; default: all meshes")
        .option(
          "--root <folder>",
          "a folder to bring; can be given several times; default: that of package.json",
          collectOption,
          [],
        )
        .option(
          "--exclude <pattern>",
          "a glob pattern of what is left out; can be given several times",
          collectOption,
          [],
        );
    }
    if (name === "spmd") {
      command
        .option("--mesh <name>", "the mesh of the hosts; default: the only mesh")
        .option("--procs <count>", "the number of processes on each host; default: 1", whole("--procs"))
        .option(
          "--gpus-per-proc <count>",
          "the number of GPUs that each process sees alone; default: it sees all of its host",
          whole("--gpus-per-proc"),
        )
        .option(
          "--max-restarts <count>",
          "how often all processes start again when one fails; default: 0",
          whole("--max-restarts"),
        );
    }
    const takesCommand = name === "run" || name === "exec" || name === "spmd";
    if (takesCommand) command.argument("<command...>", "the program and its arguments, after --").passThroughOptions();
    const takesSizes = name === "resize";
    if (takesSizes) command.argument("<sizes...>", "meshes with their new numbers of hosts, such as trainers=4");
    command.action(async (first) => {
      const options = command.opts<JobOptions>();
      const { job } = await import("./commands/job.js");
      const { configIfAny } = await import("./project-config.js");
      const words = takesCommand || takesSizes ? first : name === "port" ? [first] : [];
      end(await job(name, options, words, await configIfAny("job"), processIo));
    });
  }
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
      const compiler = await loadCompiler("lock merge");
      if (base === undefined) return end(await compiler.runLockMerge(processIo));
      if (ours === undefined || theirs === undefined)
        lock.error("cannot merge: expected the files of base, ours and theirs");
      const markSize = Number(size ?? 7);
      if (!Number.isInteger(markSize) || markSize < 1)
        lock.error(`cannot merge: expected the size of marks, got "${size}"`);
      end(await compiler.runMergeDriver({ base, ours, theirs, markSize, path: name ?? ours }, processIo));
    });

  lock
    .command("install")
    .description("make git merge the lock with `viceroy lock merge`")
    .action(async () => {
      end(await (await loadCompiler("lock install")).runLockInstall(processIo));
    });
}
