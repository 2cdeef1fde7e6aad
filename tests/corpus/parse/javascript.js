"use strict";
const path = require("path");  //? import path as path
const { join, resolve: absolute } = require("path/posix");  //? import path/posix join; import path/posix resolve as absolute
const extra = require("./extra").extra;  //? import ./extra extra as extra; read extra on require()

/** Runs it. */
function run(first, { second, third = 3 }, ...rest) {  //? function run doc="Runs it."
  const local = join(first, second, LIMIT);  //? call join; read LIMIT
  for (const item of rest) local.push(item.name);  //? call push on local; read name on item
  return this.helper(local, absolute);  //? call helper on this; read absolute
}

class Shape extends Base.Thing {  //? class Shape bases=Base.Thing; inherit Base; inherit Thing on Base
  static count = 0;  //? field Shape.count static
  handler = () => this.run();  //? method Shape.handler; call run on this
  #hidden = 1;  //? field Shape.#hidden private
  get area() {  //? method Shape.area get
    return super.area * Shape.count;  //? read area on super; read Shape; read count on Shape
  }
}

Shape.prototype.twice = function twice(n) {  //? method Shape.twice; read Shape; read prototype on Shape
  return run(n);  //? call run
};

var app = (module.exports = {});  //? variable app; write exports on module
app.use = function use(fn) {  //? method app.use; read app
  return path.join(fn.name);  //? read path; call join on path; read name on fn
};

const LIMIT = 3,  //? constant LIMIT
  other = 4;  //? variable other
exports.go = (x) => x;  //? function go exported
const routes = {  //? variable routes
  index(req) {  //? method routes.index
    return app.use(req);  //? read app; call use on app
  },
  show: async (req) => render(<Page title={other} />),  //? method routes.show; call render; call Page; write title; read other
};
module.exports = { run, Shape };  //? exports run, Shape; read run; read Shape
