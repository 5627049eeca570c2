/** One process of an SPMD run. Its arguments say what it does. */
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";

const [what, file] = process.argv.slice(2);
const { RANK: rank } = process.env;
const forever = () => setInterval(() => {}, 1000);

/** Notes the process, so that the test can find it. */
function note() {
  if (file !== undefined) appendFileSync(file, `${rank} ${process.pid}\n`);
}

/** Calls a function when four processes have noted themselves. */
function whenAllWait(then) {
  setInterval(() => readFileSync(file, "utf8").split("\n").length > 4 && then(), 10);
}

const actions = {
  environment() {
    const names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE"];
    const meeting = ["MASTER_ADDR", "MASTER_PORT"];
    const others = ["CUDA_VISIBLE_DEVICES", "COLOR"];
    const all = [...names, ...meeting, ...others].map((name) => [name, process.env[name] ?? null]);
    console.log(JSON.stringify({ ...Object.fromEntries(all), cwd: process.cwd() }));
  },
  listen() {
    const { MASTER_ADDR, MASTER_PORT } = process.env;
    if (rank !== "0") return;
    const server = createServer().listen(Number(MASTER_PORT), MASTER_ADDR, () => {
      console.log("rank 0 listens");
      server.close();
    });
  },
  /** Rank 1 fails when all others wait. */
  fail() {
    note();
    if (rank === "1") whenAllWait(() => process.exit(7));
    else forever();
  },
  /** Rank 1 fails the first time. */
  once() {
    const isFirst = !existsSync(`${file}.again`);
    note();
    console.log(`rank ${rank} ${isFirst ? "first" : "again"}`);
    if (!isFirst) return;
    if (rank !== "1") return forever();
    whenAllWait(() => {
      appendFileSync(`${file}.again`, "");
      process.exit(3);
    });
  },
  /** Starts a process that holds the outputs of this one. */
  parent() {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    appendFileSync(file, `${rank} ${process.pid} ${child.pid}\n`);
    forever();
  },
  stubborn() {
    process.on("SIGTERM", () => {});
    note();
    forever();
  },
  wait() {
    note();
    forever();
  },
  long() {
    process.stdout.write("x".repeat(200_000));
  },
};
actions[what]();
