// What Flamenco's Manager gives to job types, as its manual has it: `node flamenco.js JOB_TYPE.js < settings.json`
// prints the tasks that it makes, or ends with what it throws.
const fs = require("fs"), vm = require("vm"), posix = require("path").posix;

class Task {
    constructor(name, type) { Object.assign(this, { name, type, commands: [], dependencies: [] }); }
    addCommand(command) { this.commands.push(command); }
    addDependency(task) { this.dependencies.push(task); }
}
const job = { name: "a job", settings: JSON.parse(fs.readFileSync(0)), tasks: [], addTask(task) { this.tasks.push(task); } };
const world = {
    print() {}, alert() {},
    author: {
        Task: (name, type) => new Task(name, type),
        Command: (name, parameters, totalStepCount = 0) => ({ name, parameters, totalStepCount }),
    },
    path: {
        basename: posix.basename, dirname: posix.dirname, join: posix.join,
        stem: file => posix.basename(file).replace(/\.[^.]*$/, ""),
    },
};
vm.createContext(world);
const source = fs.readFileSync(process.argv[2], "utf8");
vm.runInContext(`"use strict";\n${source}\nglobalThis.type = JOB_TYPE; globalThis.compile = compileJob;`, world);
const known = {
    type: ["string", "int32", "float", "bool"],
    subtype: ["file_path", "dir_path", "file_name", "hashed_file_path"],
    visible: ["visible", "hidden", "submission", "web"],
};
const keys = "key type subtype choices propargs description label default eval evalInfo visible required editable".split(" ");
for (const setting of world.type.settings) {
    for (const key in setting) if (!keys.includes(key)) throw new Error(`${setting.key} has ${key}`);
    for (const key in known) {
        if (key in setting && !known[key].includes(setting[key])) throw new Error(`${setting.key}: ${key} ${setting[key]}`);
    }
}
world.compile(job);
console.log(JSON.stringify(job.tasks));
