/** What the runtime loads when a program brings code to hosts, and hosts load when they receive it. */
import "./register.js";

export { syncTree } from "./sync-hosts.js";
