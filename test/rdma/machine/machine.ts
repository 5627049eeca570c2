/**
 * A virtual machine with RDMA devices that the kernel provides over Ethernet (Soft-RoCE, rxe). It can read all files of
 * this machine and write none of them. It runs one command and ends. The machine is emulated, because hardware
 * virtualisation is not available everywhere.
 *
 * Failed boots have shown these details:
 * - The kernel measures the rate of its clock against a timer that stops while the emulator is not scheduled, and then
 *   hangs. Therefore the rate is given: that of the host, whose counter the emulated processor shows.
 * - Without `tsc=reliable` the resolution of the clock is 4 ms.
 * - About one boot in several hundred hangs, so a boot is tried again.
 * - The uncompressed kernel is started by PVH, which `microvm` supports.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cpio, type Entry } from "./cpio.js";
import type { Parts } from "./parts.js";

export interface MachineOptions {
  /** A script of sh, run as root in the checkout. */
  readonly command: string;
  /**
   * `wire` creates the devices rxe0 (10.77.0.1) and rxe1 (10.77.0.2) at the ends of a wire inside the machine. A cable
   * connects the machine to a second one: rxe0 on eth0, with 10.78.0.1 at the end that listens and 10.78.0.2 at the
   * other.
   */
  readonly rdma: "wire" | Cable;
  /** Time in ms after which the machine is killed. */
  readonly timeLimit: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Receives the output of the command as it arrives. */
  readonly onOutput?: (text: string) => void;
}

export interface Cable {
  readonly end: "listens" | "connects";
  /** The path of a Unix socket, which the listening machine creates. */
  readonly path: string;
}

export interface MachineEnd {
  /** The exit code of the command, or 128 + n after signal n; undefined if the machine was killed first. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The messages of the kernel. After a timeout they include the state of each process. */
  readonly console: string;
}

export interface Machine {
  readonly end: Promise<MachineEnd>;
  /** Resolves when the output of the command contains `text`. Rejects if the machine ends before. */
  printed(text: string): Promise<void>;
  /** Kills the machine, as a power failure would. */
  kill(): void;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const init = fileURLToPath(new URL("init.sh", import.meta.url));

const modules = [
  ...["virtio_mmio", "9pnet_virtio", "9p", "overlay", "virtio_console", "virtio_net", "veth", "sch_netem"],
  ...["crc32_generic", "crc32_pclmul", "ib_uverbs", "rdma_rxe"],
];

/** Time limit of a boot in ms. A boot takes 3 s on two idle cores. */
export const bootLimit = 120_000;
export const boots = 3;

/**
 * Boots a machine, and resolves when its command has started.
 * @throws Error with the console of the machine if the machine does not start; `end` rejects if the machine ends
 *   without an exit code
 */
export async function boot(parts: Parts, options: MachineOptions): Promise<Machine> {
  for (let attempt = 1; ; attempt++) {
    const machine = await start(parts, options);
    const timer = setTimeout(() => void machine.giveUp(), bootLimit);
    const hasStarted = await Promise.race([machine.started.then(() => true), machine.end.then(() => false)]);
    clearTimeout(timer);
    if (hasStarted) {
      const limit = setTimeout(() => void machine.giveUp(), options.timeLimit);
      machine.end.then(
        () => clearTimeout(limit),
        () => clearTimeout(limit),
      );
      return machine;
    }
    const { console } = await machine.end;
    if (attempt === boots) throw new Error(`cannot boot the virtual machine in ${boots} attempts. Console: ${console}`);
  }
}

interface StartedMachine extends Machine {
  /** Resolves when the command has started. */
  readonly started: Promise<void>;
  /** Makes the kernel print the state of each process, and kills the machine. */
  giveUp(): Promise<void>;
}

async function start(parts: Parts, options: MachineOptions): Promise<StartedMachine> {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-machine-"));
  writeFileSync(path.join(folder, "initrd"), initrd(parts, options));
  const names = ["console", "out", "err", "control", "monitor"];
  const streams = await Promise.all(names.map((name) => Stream.at(folder, name)));
  const [log, out, err, control, monitor] = streams as [Stream, Stream, Stream, Stream, Stream];
  if (options.onOutput !== undefined) for (const stream of [out, err]) stream.onData = options.onOutput;
  const qemu = emulate(parts, folder, options);
  let killed = false;
  const kill = (): void => {
    killed = true;
    qemu.kill("SIGKILL");
  };
  const giveUp = async (): Promise<void> => {
    killed = true;
    monitor.write("nmi\n");
    await Promise.race([end, new Promise((resolve) => setTimeout(resolve, 20_000))]);
    kill();
  };
  const ended = async (): Promise<MachineEnd> => {
    const output = await outputOf(qemu);
    await Promise.all(streams.map((stream) => stream.close()));
    rmSync(folder, { recursive: true, force: true });
    const code = /^exit (\d+)$/m.exec(control.text)?.[1];
    if (code === undefined && !killed) {
      throw new Error(
        `cannot run in the virtual machine: it ended without an exit code. Emulator: ${output}\nConsole: ${log.text.slice(-4000)}`,
      );
    }
    return {
      code: code === undefined ? undefined : Number(code),
      stdout: out.text,
      stderr: err.text,
      console: log.text,
    };
  };
  const end = ended();
  end.catch(() => undefined);
  const printed = (text: string): Promise<void> => {
    const before = end.then(({ stdout, stderr }) => {
      if (!stdout.includes(text)) {
        throw new Error(`the machine ended before it printed ${text}: ${stdout}${stderr}\n${log.text.slice(-2000)}`);
      }
    });
    return Promise.race([out.holds(text), before]);
  };
  return { end, printed, kill, started: control.holds("started"), giveUp };
}

function initrd(parts: Parts, { command, rdma, environment = {} }: MachineOptions): Buffer {
  const loaded = parts.modules(modules);
  const address = typeof rdma === "object" && rdma.end === "listens" ? "10.78.0.1" : "10.78.0.2";
  const kind = typeof rdma === "string" ? rdma : "cable";
  const exported = Object.entries(environment).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  const text = (name: string, content: string): Entry => ({ name, bytes: Buffer.from(content) });
  const folders = ["bin", "m", "proc", "sys", "dev", "host", "parts", "above", "root"];
  return cpio([
    ...folders.map((name) => ({ name })),
    { name: "bin/busybox", bytes: parts.busybox, executable: true },
    { name: "init", bytes: readFileSync(init), executable: true },
    ...loaded.map(({ name, code }) => ({ name: `m/${name}.ko`, bytes: code })),
    text("modules", loaded.map(({ name }) => `${name}\n`).join("")),
    text(
      "settings",
      `rdma=${kind}\naddress=${address}\npath=${quoted(`${path.dirname(process.execPath)}:${systemPath}`)}\n`,
    ),
    text("command", `cd ${quoted(root)} || exit 125\n${exported.join("")}${command}\n`),
  ]);
}

const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function emulate(parts: Parts, folder: string, { rdma }: MachineOptions): ChildProcess {
  const port = (id: string, device: string): string[] => [
    ...["-chardev", `socket,id=${id},path=${path.join(folder, id)},server=off`],
    ...["-device", `${device},chardev=${id},name=${id}`],
  ];
  const files = (id: string, place: string): string[] => [
    ...["-fsdev", `local,id=${id},path=${place.replaceAll(",", ",,")},security_model=none,readonly=on,multidevs=remap`],
    ...["-device", `virtio-9p-device,fsdev=${id},mount_tag=${id}`],
  ];
  const args = [
    ...["-no-user-config", "-nodefaults", "-display", "none", "-no-reboot"],
    ...parts.firmware.flatMap((place) => ["-L", place]),
    ...["-M", "microvm,acpi=on,rtc=on,pic=on,pit=on", "-accel", "tcg,thread=multi", "-cpu", "max"],
    ...["-smp", "2", "-m", "2048", "-kernel", parts.kernel, "-initrd", path.join(folder, "initrd")],
    ...["-append", `console=ttyS0 panic=-1 quiet mitigations=off nokaslr random.trust_cpu=on ${onNmi} ${clock()}`],
    ...["-chardev", `socket,id=console,path=${path.join(folder, "console")},server=off`, "-serial", "chardev:console"],
    ...["-device", "virtio-serial-device", ...["out", "err", "control"].flatMap((id) => port(id, "virtserialport"))],
    ...[...files("host", "/"), ...files("parts", parts.folder)],
    ...(typeof rdma === "string" ? [] : cableArgs(rdma)),
    ...["-chardev", `socket,id=monitor,path=${path.join(folder, "monitor")},server=off`, "-mon", "chardev=monitor"],
    ...["-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"],
  ];
  const env = { ...process.env, ...parts.environment };
  // The emulator dies with this process, however it ends.
  return spawn("setpriv", ["--pdeathsig", "KILL", parts.emulator, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Makes the kernel print the state of all processes and processors, and stop, at an interrupt that nothing else sends.
 */
const onNmi = "sysctl.kernel.panic_on_unrecovered_nmi=1 panic_print=0x41";

function cableArgs({ end, path: place }: Cable): string[] {
  const mac = end === "listens" ? "52:54:00:78:00:01" : "52:54:00:78:00:02";
  const server = end === "listens" ? "on" : "off";
  return [
    ...["-netdev", `stream,id=cable,server=${server},addr.type=unix,addr.path=${place}`],
    ...["-device", `virtio-net-device,netdev=cable,mac=${mac}`],
  ];
}

/** Returns kernel options with the rate of the host's time stamp counter, as its kernel has measured or reported it. */
function clock(): string {
  const log = spawnSync("dmesg", [], { encoding: "utf8" }).stdout ?? "";
  const measured = /tsc: (?:Refined TSC clocksource calibration: |Detected )(\d+\.\d+) MHz/.exec(log)?.[1];
  const named = /^cpu MHz\s*: (\d+\.\d+)/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1];
  const megahertz = measured ?? named;
  return megahertz === undefined ? "" : `tsc=reliable tsc_early_khz=${Math.round(Number(megahertz) * 1000)}`;
}

/** Resolves with the output of a process when the process has ended. */
async function outputOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  try {
    await once(child, "close");
  } catch (error) {
    text += String(error);
  }
  return text;
}

/** A port of the machine as text. The emulator connects to a Unix socket. */
class Stream {
  text = "";
  onData: (text: string) => void = () => undefined;
  readonly #server: Server;
  #socket: Socket | undefined;
  readonly #waiting: { readonly text: string; readonly resolve: () => void }[] = [];

  static async at(folder: string, name: string): Promise<Stream> {
    const server = createServer();
    server.listen(path.join(folder, name));
    await once(server, "listening");
    return new Stream(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#socket = socket;
      socket.setEncoding("utf8");
      socket.on("error", () => undefined);
      socket.on("data", (chunk: string) => {
        this.text += chunk;
        this.onData(chunk);
        for (const { text, resolve } of this.#waiting) if (this.text.includes(text)) resolve();
      });
    });
  }

  write(text: string): void {
    this.#socket?.write(text);
  }

  holds(text: string): Promise<void> {
    if (this.text.includes(text)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ text, resolve });
    });
  }

  /** Resolves when all data has been read. */
  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, "close");
  }
}
