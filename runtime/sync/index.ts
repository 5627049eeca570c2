/** What the runtime loads when a program brings code to hosts, and hosts load when they receive it. */
import "./register.js";

export { syncFirst } from "./sync-first.js";
export { syncHosts } from "./sync-hosts.js";
