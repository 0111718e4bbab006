"use strict";
(() => {
  var __create = Object.create;
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __getProtoOf = Object.getPrototypeOf;
  var __hasOwnProp = Object.prototype.hasOwnProperty;
  var __commonJS = (cb, mod) => function __require() {
    try {
      return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
    } catch (e) {
      throw mod = 0, e;
    }
  };
  var __copyProps = (to, from, except, desc) => {
    if (from && typeof from === "object" || typeof from === "function") {
      for (let key of __getOwnPropNames(from))
        if (!__hasOwnProp.call(to, key) && key !== except)
          __defProp(to, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    }
    return to;
  };
  var __toESM = (mod, isNodeMode, target) => (target = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
    // If the importer is in node compatibility mode or this is not an ESM
    // file that has been converted to a CommonJS file using a Babel-
    // compatible transform (i.e. "__esModule" has not been set), then set
    // "default" to the CommonJS "module.exports" for node compatibility.
    isNodeMode || !mod || !mod.__esModule ? __defProp(target, "default", { value: mod, enumerable: true }) : target,
    mod
  ));

  // node_modules/jmespath/jmespath.js
  var require_jmespath = __commonJS({
    "node_modules/jmespath/jmespath.js"(exports) {
      (function(exports2) {
        "use strict";
        function isArray(obj) {
          if (obj !== null) {
            return Object.prototype.toString.call(obj) === "[object Array]";
          } else {
            return false;
          }
        }
        function isObject(obj) {
          if (obj !== null) {
            return Object.prototype.toString.call(obj) === "[object Object]";
          } else {
            return false;
          }
        }
        function strictDeepEqual(first, second) {
          if (first === second) {
            return true;
          }
          var firstType = Object.prototype.toString.call(first);
          if (firstType !== Object.prototype.toString.call(second)) {
            return false;
          }
          if (isArray(first) === true) {
            if (first.length !== second.length) {
              return false;
            }
            for (var i = 0; i < first.length; i++) {
              if (strictDeepEqual(first[i], second[i]) === false) {
                return false;
              }
            }
            return true;
          }
          if (isObject(first) === true) {
            var keysSeen = {};
            for (var key in first) {
              if (hasOwnProperty.call(first, key)) {
                if (strictDeepEqual(first[key], second[key]) === false) {
                  return false;
                }
                keysSeen[key] = true;
              }
            }
            for (var key2 in second) {
              if (hasOwnProperty.call(second, key2)) {
                if (keysSeen[key2] !== true) {
                  return false;
                }
              }
            }
            return true;
          }
          return false;
        }
        function isFalse(obj) {
          if (obj === "" || obj === false || obj === null) {
            return true;
          } else if (isArray(obj) && obj.length === 0) {
            return true;
          } else if (isObject(obj)) {
            for (var key in obj) {
              if (obj.hasOwnProperty(key)) {
                return false;
              }
            }
            return true;
          } else {
            return false;
          }
        }
        function objValues(obj) {
          var keys = Object.keys(obj);
          var values = [];
          for (var i = 0; i < keys.length; i++) {
            values.push(obj[keys[i]]);
          }
          return values;
        }
        function merge(a, b) {
          var merged = {};
          for (var key in a) {
            merged[key] = a[key];
          }
          for (var key2 in b) {
            merged[key2] = b[key2];
          }
          return merged;
        }
        var trimLeft;
        if (typeof String.prototype.trimLeft === "function") {
          trimLeft = function(str) {
            return str.trimLeft();
          };
        } else {
          trimLeft = function(str) {
            return str.match(/^\s*(.*)/)[1];
          };
        }
        var TYPE_NUMBER = 0;
        var TYPE_ANY = 1;
        var TYPE_STRING = 2;
        var TYPE_ARRAY = 3;
        var TYPE_OBJECT = 4;
        var TYPE_BOOLEAN = 5;
        var TYPE_EXPREF = 6;
        var TYPE_NULL = 7;
        var TYPE_ARRAY_NUMBER = 8;
        var TYPE_ARRAY_STRING = 9;
        var TYPE_NAME_TABLE = {
          0: "number",
          1: "any",
          2: "string",
          3: "array",
          4: "object",
          5: "boolean",
          6: "expression",
          7: "null",
          8: "Array<number>",
          9: "Array<string>"
        };
        var TOK_EOF = "EOF";
        var TOK_UNQUOTEDIDENTIFIER = "UnquotedIdentifier";
        var TOK_QUOTEDIDENTIFIER = "QuotedIdentifier";
        var TOK_RBRACKET = "Rbracket";
        var TOK_RPAREN = "Rparen";
        var TOK_COMMA = "Comma";
        var TOK_COLON = "Colon";
        var TOK_RBRACE = "Rbrace";
        var TOK_NUMBER = "Number";
        var TOK_CURRENT = "Current";
        var TOK_EXPREF = "Expref";
        var TOK_PIPE = "Pipe";
        var TOK_OR = "Or";
        var TOK_AND = "And";
        var TOK_EQ = "EQ";
        var TOK_GT = "GT";
        var TOK_LT = "LT";
        var TOK_GTE = "GTE";
        var TOK_LTE = "LTE";
        var TOK_NE = "NE";
        var TOK_FLATTEN = "Flatten";
        var TOK_STAR = "Star";
        var TOK_FILTER = "Filter";
        var TOK_DOT = "Dot";
        var TOK_NOT = "Not";
        var TOK_LBRACE = "Lbrace";
        var TOK_LBRACKET = "Lbracket";
        var TOK_LPAREN = "Lparen";
        var TOK_LITERAL = "Literal";
        var basicTokens = {
          ".": TOK_DOT,
          "*": TOK_STAR,
          ",": TOK_COMMA,
          ":": TOK_COLON,
          "{": TOK_LBRACE,
          "}": TOK_RBRACE,
          "]": TOK_RBRACKET,
          "(": TOK_LPAREN,
          ")": TOK_RPAREN,
          "@": TOK_CURRENT
        };
        var operatorStartToken = {
          "<": true,
          ">": true,
          "=": true,
          "!": true
        };
        var skipChars = {
          " ": true,
          "	": true,
          "\n": true
        };
        function isAlpha(ch) {
          return ch >= "a" && ch <= "z" || ch >= "A" && ch <= "Z" || ch === "_";
        }
        function isNum(ch) {
          return ch >= "0" && ch <= "9" || ch === "-";
        }
        function isAlphaNum(ch) {
          return ch >= "a" && ch <= "z" || ch >= "A" && ch <= "Z" || ch >= "0" && ch <= "9" || ch === "_";
        }
        function Lexer() {
        }
        Lexer.prototype = {
          tokenize: function(stream) {
            var tokens = [];
            this._current = 0;
            var start;
            var identifier;
            var token;
            while (this._current < stream.length) {
              if (isAlpha(stream[this._current])) {
                start = this._current;
                identifier = this._consumeUnquotedIdentifier(stream);
                tokens.push({
                  type: TOK_UNQUOTEDIDENTIFIER,
                  value: identifier,
                  start
                });
              } else if (basicTokens[stream[this._current]] !== void 0) {
                tokens.push({
                  type: basicTokens[stream[this._current]],
                  value: stream[this._current],
                  start: this._current
                });
                this._current++;
              } else if (isNum(stream[this._current])) {
                token = this._consumeNumber(stream);
                tokens.push(token);
              } else if (stream[this._current] === "[") {
                token = this._consumeLBracket(stream);
                tokens.push(token);
              } else if (stream[this._current] === '"') {
                start = this._current;
                identifier = this._consumeQuotedIdentifier(stream);
                tokens.push({
                  type: TOK_QUOTEDIDENTIFIER,
                  value: identifier,
                  start
                });
              } else if (stream[this._current] === "'") {
                start = this._current;
                identifier = this._consumeRawStringLiteral(stream);
                tokens.push({
                  type: TOK_LITERAL,
                  value: identifier,
                  start
                });
              } else if (stream[this._current] === "`") {
                start = this._current;
                var literal = this._consumeLiteral(stream);
                tokens.push({
                  type: TOK_LITERAL,
                  value: literal,
                  start
                });
              } else if (operatorStartToken[stream[this._current]] !== void 0) {
                tokens.push(this._consumeOperator(stream));
              } else if (skipChars[stream[this._current]] !== void 0) {
                this._current++;
              } else if (stream[this._current] === "&") {
                start = this._current;
                this._current++;
                if (stream[this._current] === "&") {
                  this._current++;
                  tokens.push({ type: TOK_AND, value: "&&", start });
                } else {
                  tokens.push({ type: TOK_EXPREF, value: "&", start });
                }
              } else if (stream[this._current] === "|") {
                start = this._current;
                this._current++;
                if (stream[this._current] === "|") {
                  this._current++;
                  tokens.push({ type: TOK_OR, value: "||", start });
                } else {
                  tokens.push({ type: TOK_PIPE, value: "|", start });
                }
              } else {
                var error = new Error("Unknown character:" + stream[this._current]);
                error.name = "LexerError";
                throw error;
              }
            }
            return tokens;
          },
          _consumeUnquotedIdentifier: function(stream) {
            var start = this._current;
            this._current++;
            while (this._current < stream.length && isAlphaNum(stream[this._current])) {
              this._current++;
            }
            return stream.slice(start, this._current);
          },
          _consumeQuotedIdentifier: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (stream[this._current] !== '"' && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === '"')) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            this._current++;
            return JSON.parse(stream.slice(start, this._current));
          },
          _consumeRawStringLiteral: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (stream[this._current] !== "'" && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === "'")) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            this._current++;
            var literal = stream.slice(start + 1, this._current - 1);
            return literal.replace("\\'", "'");
          },
          _consumeNumber: function(stream) {
            var start = this._current;
            this._current++;
            var maxLength = stream.length;
            while (isNum(stream[this._current]) && this._current < maxLength) {
              this._current++;
            }
            var value = parseInt(stream.slice(start, this._current));
            return { type: TOK_NUMBER, value, start };
          },
          _consumeLBracket: function(stream) {
            var start = this._current;
            this._current++;
            if (stream[this._current] === "?") {
              this._current++;
              return { type: TOK_FILTER, value: "[?", start };
            } else if (stream[this._current] === "]") {
              this._current++;
              return { type: TOK_FLATTEN, value: "[]", start };
            } else {
              return { type: TOK_LBRACKET, value: "[", start };
            }
          },
          _consumeOperator: function(stream) {
            var start = this._current;
            var startingChar = stream[start];
            this._current++;
            if (startingChar === "!") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_NE, value: "!=", start };
              } else {
                return { type: TOK_NOT, value: "!", start };
              }
            } else if (startingChar === "<") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_LTE, value: "<=", start };
              } else {
                return { type: TOK_LT, value: "<", start };
              }
            } else if (startingChar === ">") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_GTE, value: ">=", start };
              } else {
                return { type: TOK_GT, value: ">", start };
              }
            } else if (startingChar === "=") {
              if (stream[this._current] === "=") {
                this._current++;
                return { type: TOK_EQ, value: "==", start };
              }
            }
          },
          _consumeLiteral: function(stream) {
            this._current++;
            var start = this._current;
            var maxLength = stream.length;
            var literal;
            while (stream[this._current] !== "`" && this._current < maxLength) {
              var current = this._current;
              if (stream[current] === "\\" && (stream[current + 1] === "\\" || stream[current + 1] === "`")) {
                current += 2;
              } else {
                current++;
              }
              this._current = current;
            }
            var literalString = trimLeft(stream.slice(start, this._current));
            literalString = literalString.replace("\\`", "`");
            if (this._looksLikeJSON(literalString)) {
              literal = JSON.parse(literalString);
            } else {
              literal = JSON.parse('"' + literalString + '"');
            }
            this._current++;
            return literal;
          },
          _looksLikeJSON: function(literalString) {
            var startingChars = '[{"';
            var jsonLiterals = ["true", "false", "null"];
            var numberLooking = "-0123456789";
            if (literalString === "") {
              return false;
            } else if (startingChars.indexOf(literalString[0]) >= 0) {
              return true;
            } else if (jsonLiterals.indexOf(literalString) >= 0) {
              return true;
            } else if (numberLooking.indexOf(literalString[0]) >= 0) {
              try {
                JSON.parse(literalString);
                return true;
              } catch (ex) {
                return false;
              }
            } else {
              return false;
            }
          }
        };
        var bindingPower = {};
        bindingPower[TOK_EOF] = 0;
        bindingPower[TOK_UNQUOTEDIDENTIFIER] = 0;
        bindingPower[TOK_QUOTEDIDENTIFIER] = 0;
        bindingPower[TOK_RBRACKET] = 0;
        bindingPower[TOK_RPAREN] = 0;
        bindingPower[TOK_COMMA] = 0;
        bindingPower[TOK_RBRACE] = 0;
        bindingPower[TOK_NUMBER] = 0;
        bindingPower[TOK_CURRENT] = 0;
        bindingPower[TOK_EXPREF] = 0;
        bindingPower[TOK_PIPE] = 1;
        bindingPower[TOK_OR] = 2;
        bindingPower[TOK_AND] = 3;
        bindingPower[TOK_EQ] = 5;
        bindingPower[TOK_GT] = 5;
        bindingPower[TOK_LT] = 5;
        bindingPower[TOK_GTE] = 5;
        bindingPower[TOK_LTE] = 5;
        bindingPower[TOK_NE] = 5;
        bindingPower[TOK_FLATTEN] = 9;
        bindingPower[TOK_STAR] = 20;
        bindingPower[TOK_FILTER] = 21;
        bindingPower[TOK_DOT] = 40;
        bindingPower[TOK_NOT] = 45;
        bindingPower[TOK_LBRACE] = 50;
        bindingPower[TOK_LBRACKET] = 55;
        bindingPower[TOK_LPAREN] = 60;
        function Parser() {
        }
        Parser.prototype = {
          parse: function(expression) {
            this._loadTokens(expression);
            this.index = 0;
            var ast = this.expression(0);
            if (this._lookahead(0) !== TOK_EOF) {
              var t = this._lookaheadToken(0);
              var error = new Error(
                "Unexpected token type: " + t.type + ", value: " + t.value
              );
              error.name = "ParserError";
              throw error;
            }
            return ast;
          },
          _loadTokens: function(expression) {
            var lexer = new Lexer();
            var tokens = lexer.tokenize(expression);
            tokens.push({ type: TOK_EOF, value: "", start: expression.length });
            this.tokens = tokens;
          },
          expression: function(rbp) {
            var leftToken = this._lookaheadToken(0);
            this._advance();
            var left = this.nud(leftToken);
            var currentToken = this._lookahead(0);
            while (rbp < bindingPower[currentToken]) {
              this._advance();
              left = this.led(currentToken, left);
              currentToken = this._lookahead(0);
            }
            return left;
          },
          _lookahead: function(number) {
            return this.tokens[this.index + number].type;
          },
          _lookaheadToken: function(number) {
            return this.tokens[this.index + number];
          },
          _advance: function() {
            this.index++;
          },
          nud: function(token) {
            var left;
            var right;
            var expression;
            switch (token.type) {
              case TOK_LITERAL:
                return { type: "Literal", value: token.value };
              case TOK_UNQUOTEDIDENTIFIER:
                return { type: "Field", name: token.value };
              case TOK_QUOTEDIDENTIFIER:
                var node = { type: "Field", name: token.value };
                if (this._lookahead(0) === TOK_LPAREN) {
                  throw new Error("Quoted identifier not allowed for function names.");
                }
                return node;
              case TOK_NOT:
                right = this.expression(bindingPower.Not);
                return { type: "NotExpression", children: [right] };
              case TOK_STAR:
                left = { type: "Identity" };
                right = null;
                if (this._lookahead(0) === TOK_RBRACKET) {
                  right = { type: "Identity" };
                } else {
                  right = this._parseProjectionRHS(bindingPower.Star);
                }
                return { type: "ValueProjection", children: [left, right] };
              case TOK_FILTER:
                return this.led(token.type, { type: "Identity" });
              case TOK_LBRACE:
                return this._parseMultiselectHash();
              case TOK_FLATTEN:
                left = { type: TOK_FLATTEN, children: [{ type: "Identity" }] };
                right = this._parseProjectionRHS(bindingPower.Flatten);
                return { type: "Projection", children: [left, right] };
              case TOK_LBRACKET:
                if (this._lookahead(0) === TOK_NUMBER || this._lookahead(0) === TOK_COLON) {
                  right = this._parseIndexExpression();
                  return this._projectIfSlice({ type: "Identity" }, right);
                } else if (this._lookahead(0) === TOK_STAR && this._lookahead(1) === TOK_RBRACKET) {
                  this._advance();
                  this._advance();
                  right = this._parseProjectionRHS(bindingPower.Star);
                  return {
                    type: "Projection",
                    children: [{ type: "Identity" }, right]
                  };
                }
                return this._parseMultiselectList();
              case TOK_CURRENT:
                return { type: TOK_CURRENT };
              case TOK_EXPREF:
                expression = this.expression(bindingPower.Expref);
                return { type: "ExpressionReference", children: [expression] };
              case TOK_LPAREN:
                var args = [];
                while (this._lookahead(0) !== TOK_RPAREN) {
                  if (this._lookahead(0) === TOK_CURRENT) {
                    expression = { type: TOK_CURRENT };
                    this._advance();
                  } else {
                    expression = this.expression(0);
                  }
                  args.push(expression);
                }
                this._match(TOK_RPAREN);
                return args[0];
              default:
                this._errorToken(token);
            }
          },
          led: function(tokenName, left) {
            var right;
            switch (tokenName) {
              case TOK_DOT:
                var rbp = bindingPower.Dot;
                if (this._lookahead(0) !== TOK_STAR) {
                  right = this._parseDotRHS(rbp);
                  return { type: "Subexpression", children: [left, right] };
                }
                this._advance();
                right = this._parseProjectionRHS(rbp);
                return { type: "ValueProjection", children: [left, right] };
              case TOK_PIPE:
                right = this.expression(bindingPower.Pipe);
                return { type: TOK_PIPE, children: [left, right] };
              case TOK_OR:
                right = this.expression(bindingPower.Or);
                return { type: "OrExpression", children: [left, right] };
              case TOK_AND:
                right = this.expression(bindingPower.And);
                return { type: "AndExpression", children: [left, right] };
              case TOK_LPAREN:
                var name = left.name;
                var args = [];
                var expression, node;
                while (this._lookahead(0) !== TOK_RPAREN) {
                  if (this._lookahead(0) === TOK_CURRENT) {
                    expression = { type: TOK_CURRENT };
                    this._advance();
                  } else {
                    expression = this.expression(0);
                  }
                  if (this._lookahead(0) === TOK_COMMA) {
                    this._match(TOK_COMMA);
                  }
                  args.push(expression);
                }
                this._match(TOK_RPAREN);
                node = { type: "Function", name, children: args };
                return node;
              case TOK_FILTER:
                var condition = this.expression(0);
                this._match(TOK_RBRACKET);
                if (this._lookahead(0) === TOK_FLATTEN) {
                  right = { type: "Identity" };
                } else {
                  right = this._parseProjectionRHS(bindingPower.Filter);
                }
                return { type: "FilterProjection", children: [left, right, condition] };
              case TOK_FLATTEN:
                var leftNode = { type: TOK_FLATTEN, children: [left] };
                var rightNode = this._parseProjectionRHS(bindingPower.Flatten);
                return { type: "Projection", children: [leftNode, rightNode] };
              case TOK_EQ:
              case TOK_NE:
              case TOK_GT:
              case TOK_GTE:
              case TOK_LT:
              case TOK_LTE:
                return this._parseComparator(left, tokenName);
              case TOK_LBRACKET:
                var token = this._lookaheadToken(0);
                if (token.type === TOK_NUMBER || token.type === TOK_COLON) {
                  right = this._parseIndexExpression();
                  return this._projectIfSlice(left, right);
                }
                this._match(TOK_STAR);
                this._match(TOK_RBRACKET);
                right = this._parseProjectionRHS(bindingPower.Star);
                return { type: "Projection", children: [left, right] };
              default:
                this._errorToken(this._lookaheadToken(0));
            }
          },
          _match: function(tokenType) {
            if (this._lookahead(0) === tokenType) {
              this._advance();
            } else {
              var t = this._lookaheadToken(0);
              var error = new Error("Expected " + tokenType + ", got: " + t.type);
              error.name = "ParserError";
              throw error;
            }
          },
          _errorToken: function(token) {
            var error = new Error("Invalid token (" + token.type + '): "' + token.value + '"');
            error.name = "ParserError";
            throw error;
          },
          _parseIndexExpression: function() {
            if (this._lookahead(0) === TOK_COLON || this._lookahead(1) === TOK_COLON) {
              return this._parseSliceExpression();
            } else {
              var node = {
                type: "Index",
                value: this._lookaheadToken(0).value
              };
              this._advance();
              this._match(TOK_RBRACKET);
              return node;
            }
          },
          _projectIfSlice: function(left, right) {
            var indexExpr = { type: "IndexExpression", children: [left, right] };
            if (right.type === "Slice") {
              return {
                type: "Projection",
                children: [indexExpr, this._parseProjectionRHS(bindingPower.Star)]
              };
            } else {
              return indexExpr;
            }
          },
          _parseSliceExpression: function() {
            var parts = [null, null, null];
            var index = 0;
            var currentToken = this._lookahead(0);
            while (currentToken !== TOK_RBRACKET && index < 3) {
              if (currentToken === TOK_COLON) {
                index++;
                this._advance();
              } else if (currentToken === TOK_NUMBER) {
                parts[index] = this._lookaheadToken(0).value;
                this._advance();
              } else {
                var t = this._lookahead(0);
                var error = new Error("Syntax error, unexpected token: " + t.value + "(" + t.type + ")");
                error.name = "Parsererror";
                throw error;
              }
              currentToken = this._lookahead(0);
            }
            this._match(TOK_RBRACKET);
            return {
              type: "Slice",
              children: parts
            };
          },
          _parseComparator: function(left, comparator) {
            var right = this.expression(bindingPower[comparator]);
            return { type: "Comparator", name: comparator, children: [left, right] };
          },
          _parseDotRHS: function(rbp) {
            var lookahead = this._lookahead(0);
            var exprTokens = [TOK_UNQUOTEDIDENTIFIER, TOK_QUOTEDIDENTIFIER, TOK_STAR];
            if (exprTokens.indexOf(lookahead) >= 0) {
              return this.expression(rbp);
            } else if (lookahead === TOK_LBRACKET) {
              this._match(TOK_LBRACKET);
              return this._parseMultiselectList();
            } else if (lookahead === TOK_LBRACE) {
              this._match(TOK_LBRACE);
              return this._parseMultiselectHash();
            }
          },
          _parseProjectionRHS: function(rbp) {
            var right;
            if (bindingPower[this._lookahead(0)] < 10) {
              right = { type: "Identity" };
            } else if (this._lookahead(0) === TOK_LBRACKET) {
              right = this.expression(rbp);
            } else if (this._lookahead(0) === TOK_FILTER) {
              right = this.expression(rbp);
            } else if (this._lookahead(0) === TOK_DOT) {
              this._match(TOK_DOT);
              right = this._parseDotRHS(rbp);
            } else {
              var t = this._lookaheadToken(0);
              var error = new Error("Sytanx error, unexpected token: " + t.value + "(" + t.type + ")");
              error.name = "ParserError";
              throw error;
            }
            return right;
          },
          _parseMultiselectList: function() {
            var expressions = [];
            while (this._lookahead(0) !== TOK_RBRACKET) {
              var expression = this.expression(0);
              expressions.push(expression);
              if (this._lookahead(0) === TOK_COMMA) {
                this._match(TOK_COMMA);
                if (this._lookahead(0) === TOK_RBRACKET) {
                  throw new Error("Unexpected token Rbracket");
                }
              }
            }
            this._match(TOK_RBRACKET);
            return { type: "MultiSelectList", children: expressions };
          },
          _parseMultiselectHash: function() {
            var pairs = [];
            var identifierTypes = [TOK_UNQUOTEDIDENTIFIER, TOK_QUOTEDIDENTIFIER];
            var keyToken, keyName, value, node;
            for (; ; ) {
              keyToken = this._lookaheadToken(0);
              if (identifierTypes.indexOf(keyToken.type) < 0) {
                throw new Error("Expecting an identifier token, got: " + keyToken.type);
              }
              keyName = keyToken.value;
              this._advance();
              this._match(TOK_COLON);
              value = this.expression(0);
              node = { type: "KeyValuePair", name: keyName, value };
              pairs.push(node);
              if (this._lookahead(0) === TOK_COMMA) {
                this._match(TOK_COMMA);
              } else if (this._lookahead(0) === TOK_RBRACE) {
                this._match(TOK_RBRACE);
                break;
              }
            }
            return { type: "MultiSelectHash", children: pairs };
          }
        };
        function TreeInterpreter(runtime) {
          this.runtime = runtime;
        }
        TreeInterpreter.prototype = {
          search: function(node, value) {
            return this.visit(node, value);
          },
          visit: function(node, value) {
            var matched, current, result, first, second, field, left, right, collected, i;
            switch (node.type) {
              case "Field":
                if (value !== null && isObject(value)) {
                  field = value[node.name];
                  if (field === void 0) {
                    return null;
                  } else {
                    return field;
                  }
                }
                return null;
              case "Subexpression":
                result = this.visit(node.children[0], value);
                for (i = 1; i < node.children.length; i++) {
                  result = this.visit(node.children[1], result);
                  if (result === null) {
                    return null;
                  }
                }
                return result;
              case "IndexExpression":
                left = this.visit(node.children[0], value);
                right = this.visit(node.children[1], left);
                return right;
              case "Index":
                if (!isArray(value)) {
                  return null;
                }
                var index = node.value;
                if (index < 0) {
                  index = value.length + index;
                }
                result = value[index];
                if (result === void 0) {
                  result = null;
                }
                return result;
              case "Slice":
                if (!isArray(value)) {
                  return null;
                }
                var sliceParams = node.children.slice(0);
                var computed = this.computeSliceParams(value.length, sliceParams);
                var start = computed[0];
                var stop = computed[1];
                var step = computed[2];
                result = [];
                if (step > 0) {
                  for (i = start; i < stop; i += step) {
                    result.push(value[i]);
                  }
                } else {
                  for (i = start; i > stop; i += step) {
                    result.push(value[i]);
                  }
                }
                return result;
              case "Projection":
                var base = this.visit(node.children[0], value);
                if (!isArray(base)) {
                  return null;
                }
                collected = [];
                for (i = 0; i < base.length; i++) {
                  current = this.visit(node.children[1], base[i]);
                  if (current !== null) {
                    collected.push(current);
                  }
                }
                return collected;
              case "ValueProjection":
                base = this.visit(node.children[0], value);
                if (!isObject(base)) {
                  return null;
                }
                collected = [];
                var values = objValues(base);
                for (i = 0; i < values.length; i++) {
                  current = this.visit(node.children[1], values[i]);
                  if (current !== null) {
                    collected.push(current);
                  }
                }
                return collected;
              case "FilterProjection":
                base = this.visit(node.children[0], value);
                if (!isArray(base)) {
                  return null;
                }
                var filtered = [];
                var finalResults = [];
                for (i = 0; i < base.length; i++) {
                  matched = this.visit(node.children[2], base[i]);
                  if (!isFalse(matched)) {
                    filtered.push(base[i]);
                  }
                }
                for (var j = 0; j < filtered.length; j++) {
                  current = this.visit(node.children[1], filtered[j]);
                  if (current !== null) {
                    finalResults.push(current);
                  }
                }
                return finalResults;
              case "Comparator":
                first = this.visit(node.children[0], value);
                second = this.visit(node.children[1], value);
                switch (node.name) {
                  case TOK_EQ:
                    result = strictDeepEqual(first, second);
                    break;
                  case TOK_NE:
                    result = !strictDeepEqual(first, second);
                    break;
                  case TOK_GT:
                    result = first > second;
                    break;
                  case TOK_GTE:
                    result = first >= second;
                    break;
                  case TOK_LT:
                    result = first < second;
                    break;
                  case TOK_LTE:
                    result = first <= second;
                    break;
                  default:
                    throw new Error("Unknown comparator: " + node.name);
                }
                return result;
              case TOK_FLATTEN:
                var original = this.visit(node.children[0], value);
                if (!isArray(original)) {
                  return null;
                }
                var merged = [];
                for (i = 0; i < original.length; i++) {
                  current = original[i];
                  if (isArray(current)) {
                    merged.push.apply(merged, current);
                  } else {
                    merged.push(current);
                  }
                }
                return merged;
              case "Identity":
                return value;
              case "MultiSelectList":
                if (value === null) {
                  return null;
                }
                collected = [];
                for (i = 0; i < node.children.length; i++) {
                  collected.push(this.visit(node.children[i], value));
                }
                return collected;
              case "MultiSelectHash":
                if (value === null) {
                  return null;
                }
                collected = {};
                var child;
                for (i = 0; i < node.children.length; i++) {
                  child = node.children[i];
                  collected[child.name] = this.visit(child.value, value);
                }
                return collected;
              case "OrExpression":
                matched = this.visit(node.children[0], value);
                if (isFalse(matched)) {
                  matched = this.visit(node.children[1], value);
                }
                return matched;
              case "AndExpression":
                first = this.visit(node.children[0], value);
                if (isFalse(first) === true) {
                  return first;
                }
                return this.visit(node.children[1], value);
              case "NotExpression":
                first = this.visit(node.children[0], value);
                return isFalse(first);
              case "Literal":
                return node.value;
              case TOK_PIPE:
                left = this.visit(node.children[0], value);
                return this.visit(node.children[1], left);
              case TOK_CURRENT:
                return value;
              case "Function":
                var resolvedArgs = [];
                for (i = 0; i < node.children.length; i++) {
                  resolvedArgs.push(this.visit(node.children[i], value));
                }
                return this.runtime.callFunction(node.name, resolvedArgs);
              case "ExpressionReference":
                var refNode = node.children[0];
                refNode.jmespathType = TOK_EXPREF;
                return refNode;
              default:
                throw new Error("Unknown node type: " + node.type);
            }
          },
          computeSliceParams: function(arrayLength, sliceParams) {
            var start = sliceParams[0];
            var stop = sliceParams[1];
            var step = sliceParams[2];
            var computed = [null, null, null];
            if (step === null) {
              step = 1;
            } else if (step === 0) {
              var error = new Error("Invalid slice, step cannot be 0");
              error.name = "RuntimeError";
              throw error;
            }
            var stepValueNegative = step < 0 ? true : false;
            if (start === null) {
              start = stepValueNegative ? arrayLength - 1 : 0;
            } else {
              start = this.capSliceRange(arrayLength, start, step);
            }
            if (stop === null) {
              stop = stepValueNegative ? -1 : arrayLength;
            } else {
              stop = this.capSliceRange(arrayLength, stop, step);
            }
            computed[0] = start;
            computed[1] = stop;
            computed[2] = step;
            return computed;
          },
          capSliceRange: function(arrayLength, actualValue, step) {
            if (actualValue < 0) {
              actualValue += arrayLength;
              if (actualValue < 0) {
                actualValue = step < 0 ? -1 : 0;
              }
            } else if (actualValue >= arrayLength) {
              actualValue = step < 0 ? arrayLength - 1 : arrayLength;
            }
            return actualValue;
          }
        };
        function Runtime(interpreter) {
          this._interpreter = interpreter;
          this.functionTable = {
            // name: [function, <signature>]
            // The <signature> can be:
            //
            // {
            //   args: [[type1, type2], [type1, type2]],
            //   variadic: true|false
            // }
            //
            // Each arg in the arg list is a list of valid types
            // (if the function is overloaded and supports multiple
            // types.  If the type is "any" then no type checking
            // occurs on the argument.  Variadic is optional
            // and if not provided is assumed to be false.
            abs: { _func: this._functionAbs, _signature: [{ types: [TYPE_NUMBER] }] },
            avg: { _func: this._functionAvg, _signature: [{ types: [TYPE_ARRAY_NUMBER] }] },
            ceil: { _func: this._functionCeil, _signature: [{ types: [TYPE_NUMBER] }] },
            contains: {
              _func: this._functionContains,
              _signature: [
                { types: [TYPE_STRING, TYPE_ARRAY] },
                { types: [TYPE_ANY] }
              ]
            },
            "ends_with": {
              _func: this._functionEndsWith,
              _signature: [{ types: [TYPE_STRING] }, { types: [TYPE_STRING] }]
            },
            floor: { _func: this._functionFloor, _signature: [{ types: [TYPE_NUMBER] }] },
            length: {
              _func: this._functionLength,
              _signature: [{ types: [TYPE_STRING, TYPE_ARRAY, TYPE_OBJECT] }]
            },
            map: {
              _func: this._functionMap,
              _signature: [{ types: [TYPE_EXPREF] }, { types: [TYPE_ARRAY] }]
            },
            max: {
              _func: this._functionMax,
              _signature: [{ types: [TYPE_ARRAY_NUMBER, TYPE_ARRAY_STRING] }]
            },
            "merge": {
              _func: this._functionMerge,
              _signature: [{ types: [TYPE_OBJECT], variadic: true }]
            },
            "max_by": {
              _func: this._functionMaxBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            sum: { _func: this._functionSum, _signature: [{ types: [TYPE_ARRAY_NUMBER] }] },
            "starts_with": {
              _func: this._functionStartsWith,
              _signature: [{ types: [TYPE_STRING] }, { types: [TYPE_STRING] }]
            },
            min: {
              _func: this._functionMin,
              _signature: [{ types: [TYPE_ARRAY_NUMBER, TYPE_ARRAY_STRING] }]
            },
            "min_by": {
              _func: this._functionMinBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            type: { _func: this._functionType, _signature: [{ types: [TYPE_ANY] }] },
            keys: { _func: this._functionKeys, _signature: [{ types: [TYPE_OBJECT] }] },
            values: { _func: this._functionValues, _signature: [{ types: [TYPE_OBJECT] }] },
            sort: { _func: this._functionSort, _signature: [{ types: [TYPE_ARRAY_STRING, TYPE_ARRAY_NUMBER] }] },
            "sort_by": {
              _func: this._functionSortBy,
              _signature: [{ types: [TYPE_ARRAY] }, { types: [TYPE_EXPREF] }]
            },
            join: {
              _func: this._functionJoin,
              _signature: [
                { types: [TYPE_STRING] },
                { types: [TYPE_ARRAY_STRING] }
              ]
            },
            reverse: {
              _func: this._functionReverse,
              _signature: [{ types: [TYPE_STRING, TYPE_ARRAY] }]
            },
            "to_array": { _func: this._functionToArray, _signature: [{ types: [TYPE_ANY] }] },
            "to_string": { _func: this._functionToString, _signature: [{ types: [TYPE_ANY] }] },
            "to_number": { _func: this._functionToNumber, _signature: [{ types: [TYPE_ANY] }] },
            "not_null": {
              _func: this._functionNotNull,
              _signature: [{ types: [TYPE_ANY], variadic: true }]
            }
          };
        }
        Runtime.prototype = {
          callFunction: function(name, resolvedArgs) {
            var functionEntry = this.functionTable[name];
            if (functionEntry === void 0) {
              throw new Error("Unknown function: " + name + "()");
            }
            this._validateArgs(name, resolvedArgs, functionEntry._signature);
            return functionEntry._func.call(this, resolvedArgs);
          },
          _validateArgs: function(name, args, signature) {
            var pluralized;
            if (signature[signature.length - 1].variadic) {
              if (args.length < signature.length) {
                pluralized = signature.length === 1 ? " argument" : " arguments";
                throw new Error("ArgumentError: " + name + "() takes at least" + signature.length + pluralized + " but received " + args.length);
              }
            } else if (args.length !== signature.length) {
              pluralized = signature.length === 1 ? " argument" : " arguments";
              throw new Error("ArgumentError: " + name + "() takes " + signature.length + pluralized + " but received " + args.length);
            }
            var currentSpec;
            var actualType;
            var typeMatched;
            for (var i = 0; i < signature.length; i++) {
              typeMatched = false;
              currentSpec = signature[i].types;
              actualType = this._getTypeName(args[i]);
              for (var j = 0; j < currentSpec.length; j++) {
                if (this._typeMatches(actualType, currentSpec[j], args[i])) {
                  typeMatched = true;
                  break;
                }
              }
              if (!typeMatched) {
                var expected = currentSpec.map(function(typeIdentifier) {
                  return TYPE_NAME_TABLE[typeIdentifier];
                }).join(",");
                throw new Error("TypeError: " + name + "() expected argument " + (i + 1) + " to be type " + expected + " but received type " + TYPE_NAME_TABLE[actualType] + " instead.");
              }
            }
          },
          _typeMatches: function(actual, expected, argValue) {
            if (expected === TYPE_ANY) {
              return true;
            }
            if (expected === TYPE_ARRAY_STRING || expected === TYPE_ARRAY_NUMBER || expected === TYPE_ARRAY) {
              if (expected === TYPE_ARRAY) {
                return actual === TYPE_ARRAY;
              } else if (actual === TYPE_ARRAY) {
                var subtype;
                if (expected === TYPE_ARRAY_NUMBER) {
                  subtype = TYPE_NUMBER;
                } else if (expected === TYPE_ARRAY_STRING) {
                  subtype = TYPE_STRING;
                }
                for (var i = 0; i < argValue.length; i++) {
                  if (!this._typeMatches(
                    this._getTypeName(argValue[i]),
                    subtype,
                    argValue[i]
                  )) {
                    return false;
                  }
                }
                return true;
              }
            } else {
              return actual === expected;
            }
          },
          _getTypeName: function(obj) {
            switch (Object.prototype.toString.call(obj)) {
              case "[object String]":
                return TYPE_STRING;
              case "[object Number]":
                return TYPE_NUMBER;
              case "[object Array]":
                return TYPE_ARRAY;
              case "[object Boolean]":
                return TYPE_BOOLEAN;
              case "[object Null]":
                return TYPE_NULL;
              case "[object Object]":
                if (obj.jmespathType === TOK_EXPREF) {
                  return TYPE_EXPREF;
                } else {
                  return TYPE_OBJECT;
                }
            }
          },
          _functionStartsWith: function(resolvedArgs) {
            return resolvedArgs[0].lastIndexOf(resolvedArgs[1]) === 0;
          },
          _functionEndsWith: function(resolvedArgs) {
            var searchStr = resolvedArgs[0];
            var suffix = resolvedArgs[1];
            return searchStr.indexOf(suffix, searchStr.length - suffix.length) !== -1;
          },
          _functionReverse: function(resolvedArgs) {
            var typeName = this._getTypeName(resolvedArgs[0]);
            if (typeName === TYPE_STRING) {
              var originalStr = resolvedArgs[0];
              var reversedStr = "";
              for (var i = originalStr.length - 1; i >= 0; i--) {
                reversedStr += originalStr[i];
              }
              return reversedStr;
            } else {
              var reversedArray = resolvedArgs[0].slice(0);
              reversedArray.reverse();
              return reversedArray;
            }
          },
          _functionAbs: function(resolvedArgs) {
            return Math.abs(resolvedArgs[0]);
          },
          _functionCeil: function(resolvedArgs) {
            return Math.ceil(resolvedArgs[0]);
          },
          _functionAvg: function(resolvedArgs) {
            var sum = 0;
            var inputArray = resolvedArgs[0];
            for (var i = 0; i < inputArray.length; i++) {
              sum += inputArray[i];
            }
            return sum / inputArray.length;
          },
          _functionContains: function(resolvedArgs) {
            return resolvedArgs[0].indexOf(resolvedArgs[1]) >= 0;
          },
          _functionFloor: function(resolvedArgs) {
            return Math.floor(resolvedArgs[0]);
          },
          _functionLength: function(resolvedArgs) {
            if (!isObject(resolvedArgs[0])) {
              return resolvedArgs[0].length;
            } else {
              return Object.keys(resolvedArgs[0]).length;
            }
          },
          _functionMap: function(resolvedArgs) {
            var mapped = [];
            var interpreter = this._interpreter;
            var exprefNode = resolvedArgs[0];
            var elements = resolvedArgs[1];
            for (var i = 0; i < elements.length; i++) {
              mapped.push(interpreter.visit(exprefNode, elements[i]));
            }
            return mapped;
          },
          _functionMerge: function(resolvedArgs) {
            var merged = {};
            for (var i = 0; i < resolvedArgs.length; i++) {
              var current = resolvedArgs[i];
              for (var key in current) {
                merged[key] = current[key];
              }
            }
            return merged;
          },
          _functionMax: function(resolvedArgs) {
            if (resolvedArgs[0].length > 0) {
              var typeName = this._getTypeName(resolvedArgs[0][0]);
              if (typeName === TYPE_NUMBER) {
                return Math.max.apply(Math, resolvedArgs[0]);
              } else {
                var elements = resolvedArgs[0];
                var maxElement = elements[0];
                for (var i = 1; i < elements.length; i++) {
                  if (maxElement.localeCompare(elements[i]) < 0) {
                    maxElement = elements[i];
                  }
                }
                return maxElement;
              }
            } else {
              return null;
            }
          },
          _functionMin: function(resolvedArgs) {
            if (resolvedArgs[0].length > 0) {
              var typeName = this._getTypeName(resolvedArgs[0][0]);
              if (typeName === TYPE_NUMBER) {
                return Math.min.apply(Math, resolvedArgs[0]);
              } else {
                var elements = resolvedArgs[0];
                var minElement = elements[0];
                for (var i = 1; i < elements.length; i++) {
                  if (elements[i].localeCompare(minElement) < 0) {
                    minElement = elements[i];
                  }
                }
                return minElement;
              }
            } else {
              return null;
            }
          },
          _functionSum: function(resolvedArgs) {
            var sum = 0;
            var listToSum = resolvedArgs[0];
            for (var i = 0; i < listToSum.length; i++) {
              sum += listToSum[i];
            }
            return sum;
          },
          _functionType: function(resolvedArgs) {
            switch (this._getTypeName(resolvedArgs[0])) {
              case TYPE_NUMBER:
                return "number";
              case TYPE_STRING:
                return "string";
              case TYPE_ARRAY:
                return "array";
              case TYPE_OBJECT:
                return "object";
              case TYPE_BOOLEAN:
                return "boolean";
              case TYPE_EXPREF:
                return "expref";
              case TYPE_NULL:
                return "null";
            }
          },
          _functionKeys: function(resolvedArgs) {
            return Object.keys(resolvedArgs[0]);
          },
          _functionValues: function(resolvedArgs) {
            var obj = resolvedArgs[0];
            var keys = Object.keys(obj);
            var values = [];
            for (var i = 0; i < keys.length; i++) {
              values.push(obj[keys[i]]);
            }
            return values;
          },
          _functionJoin: function(resolvedArgs) {
            var joinChar = resolvedArgs[0];
            var listJoin = resolvedArgs[1];
            return listJoin.join(joinChar);
          },
          _functionToArray: function(resolvedArgs) {
            if (this._getTypeName(resolvedArgs[0]) === TYPE_ARRAY) {
              return resolvedArgs[0];
            } else {
              return [resolvedArgs[0]];
            }
          },
          _functionToString: function(resolvedArgs) {
            if (this._getTypeName(resolvedArgs[0]) === TYPE_STRING) {
              return resolvedArgs[0];
            } else {
              return JSON.stringify(resolvedArgs[0]);
            }
          },
          _functionToNumber: function(resolvedArgs) {
            var typeName = this._getTypeName(resolvedArgs[0]);
            var convertedValue;
            if (typeName === TYPE_NUMBER) {
              return resolvedArgs[0];
            } else if (typeName === TYPE_STRING) {
              convertedValue = +resolvedArgs[0];
              if (!isNaN(convertedValue)) {
                return convertedValue;
              }
            }
            return null;
          },
          _functionNotNull: function(resolvedArgs) {
            for (var i = 0; i < resolvedArgs.length; i++) {
              if (this._getTypeName(resolvedArgs[i]) !== TYPE_NULL) {
                return resolvedArgs[i];
              }
            }
            return null;
          },
          _functionSort: function(resolvedArgs) {
            var sortedArray = resolvedArgs[0].slice(0);
            sortedArray.sort();
            return sortedArray;
          },
          _functionSortBy: function(resolvedArgs) {
            var sortedArray = resolvedArgs[0].slice(0);
            if (sortedArray.length === 0) {
              return sortedArray;
            }
            var interpreter = this._interpreter;
            var exprefNode = resolvedArgs[1];
            var requiredType = this._getTypeName(
              interpreter.visit(exprefNode, sortedArray[0])
            );
            if ([TYPE_NUMBER, TYPE_STRING].indexOf(requiredType) < 0) {
              throw new Error("TypeError");
            }
            var that = this;
            var decorated = [];
            for (var i = 0; i < sortedArray.length; i++) {
              decorated.push([i, sortedArray[i]]);
            }
            decorated.sort(function(a, b) {
              var exprA = interpreter.visit(exprefNode, a[1]);
              var exprB = interpreter.visit(exprefNode, b[1]);
              if (that._getTypeName(exprA) !== requiredType) {
                throw new Error(
                  "TypeError: expected " + requiredType + ", received " + that._getTypeName(exprA)
                );
              } else if (that._getTypeName(exprB) !== requiredType) {
                throw new Error(
                  "TypeError: expected " + requiredType + ", received " + that._getTypeName(exprB)
                );
              }
              if (exprA > exprB) {
                return 1;
              } else if (exprA < exprB) {
                return -1;
              } else {
                return a[0] - b[0];
              }
            });
            for (var j = 0; j < decorated.length; j++) {
              sortedArray[j] = decorated[j][1];
            }
            return sortedArray;
          },
          _functionMaxBy: function(resolvedArgs) {
            var exprefNode = resolvedArgs[1];
            var resolvedArray = resolvedArgs[0];
            var keyFunction = this.createKeyFunction(exprefNode, [TYPE_NUMBER, TYPE_STRING]);
            var maxNumber = -Infinity;
            var maxRecord;
            var current;
            for (var i = 0; i < resolvedArray.length; i++) {
              current = keyFunction(resolvedArray[i]);
              if (current > maxNumber) {
                maxNumber = current;
                maxRecord = resolvedArray[i];
              }
            }
            return maxRecord;
          },
          _functionMinBy: function(resolvedArgs) {
            var exprefNode = resolvedArgs[1];
            var resolvedArray = resolvedArgs[0];
            var keyFunction = this.createKeyFunction(exprefNode, [TYPE_NUMBER, TYPE_STRING]);
            var minNumber = Infinity;
            var minRecord;
            var current;
            for (var i = 0; i < resolvedArray.length; i++) {
              current = keyFunction(resolvedArray[i]);
              if (current < minNumber) {
                minNumber = current;
                minRecord = resolvedArray[i];
              }
            }
            return minRecord;
          },
          createKeyFunction: function(exprefNode, allowedTypes) {
            var that = this;
            var interpreter = this._interpreter;
            var keyFunc = function(x) {
              var current = interpreter.visit(exprefNode, x);
              if (allowedTypes.indexOf(that._getTypeName(current)) < 0) {
                var msg = "TypeError: expected one of " + allowedTypes + ", received " + that._getTypeName(current);
                throw new Error(msg);
              }
              return current;
            };
            return keyFunc;
          }
        };
        function compile(stream) {
          var parser = new Parser();
          var ast = parser.parse(stream);
          return ast;
        }
        function tokenize(stream) {
          var lexer = new Lexer();
          return lexer.tokenize(stream);
        }
        function search2(data, expression) {
          var parser = new Parser();
          var runtime = new Runtime();
          var interpreter = new TreeInterpreter(runtime);
          runtime._interpreter = interpreter;
          var node = parser.parse(expression);
          return interpreter.search(node, data);
        }
        exports2.tokenize = tokenize;
        exports2.compile = compile;
        exports2.search = search2;
        exports2.strictDeepEqual = strictDeepEqual;
      })(typeof exports === "undefined" ? exports.jmespath = {} : exports);
    }
  });

  // content/steps/dom.ts
  function getter(proto, name) {
    const get = Object.getOwnPropertyDescriptor(proto, name)?.get;
    return (of) => Reflect.apply(get, of, []);
  }
  function method(f) {
    return (of, ...args) => Reflect.apply(f, of, args);
  }
  function setter(proto, name) {
    const set = Object.getOwnPropertyDescriptor(proto, name)?.set;
    return (of, value) => Reflect.apply(set, of, [value]);
  }
  var E = Element.prototype;
  var N = Node.prototype;
  var Input = HTMLInputElement.prototype;
  var attribute = method(E.getAttribute);
  var hasAttribute = method(E.hasAttribute);
  var localName = getter(E, "localName");
  var parentNode = getter(N, "parentNode");
  var firstChild = getter(N, "firstChild");
  var nextSibling = getter(N, "nextSibling");
  var nextElement = getter(E, "nextElementSibling");
  var previousElement = getter(E, "previousElementSibling");
  var nodeType = getter(N, "nodeType");
  var textContent = getter(N, "textContent");
  var isConnected = getter(N, "isConnected");
  var rootOf = method(N.getRootNode);
  var contains = method(N.contains);
  var matchesSelector = method(E.matches);
  var closest = method(E.closest);
  var box = method(E.getBoundingClientRect);
  var rects = method(E.getClientRects);
  var scrollIntoView = method(E.scrollIntoView);
  var scrollBy = method(E.scrollBy);
  var scrollTop = getter(E, "scrollTop");
  var scrollHeight = getter(E, "scrollHeight");
  var clientHeight = getter(E, "clientHeight");
  var dispatch = method(EventTarget.prototype.dispatchEvent);
  var focus = method(HTMLElement.prototype.focus);
  var blur = method(HTMLElement.prototype.blur);
  var nativeClick = method(HTMLElement.prototype.click);
  var tabIndex = getter(HTMLElement.prototype, "tabIndex");
  var isDraggable = getter(HTMLElement.prototype, "draggable");
  var hidePopover = method(HTMLElement.prototype.hidePopover);
  var closeDialog = method(HTMLDialogElement.prototype.close);
  var innerText = getter(HTMLElement.prototype, "innerText");
  var isEditable = getter(HTMLElement.prototype, "isContentEditable");
  var assignedNodes = method(HTMLSlotElement.prototype.assignedNodes);
  var requestSubmit = method(HTMLFormElement.prototype.requestSubmit);
  var formElements = getter(HTMLFormElement.prototype, "elements");
  var formAction = getter(HTMLFormElement.prototype, "action");
  var formMethod = getter(HTMLFormElement.prototype, "method");
  var inputType = getter(Input, "type");
  var inputValue = getter(Input, "value");
  var setInputValue = setter(Input, "value");
  var isChecked = getter(Input, "checked");
  var setInputFiles = setter(Input, "files");
  var stepUp = method(Input.stepUp);
  var stepDown = method(Input.stepDown);
  var areaValue = getter(HTMLTextAreaElement.prototype, "value");
  var selectArea = method(HTMLTextAreaElement.prototype.select);
  var selectInput = method(Input.select);
  var setAreaValue = setter(HTMLTextAreaElement.prototype, "value");
  var selectOptions = getter(HTMLSelectElement.prototype, "options");
  var isMultiple = getter(HTMLSelectElement.prototype, "multiple");
  var isSelected = getter(HTMLOptionElement.prototype, "selected");
  var setSelected = setter(HTMLOptionElement.prototype, "selected");
  var optionLabel = getter(HTMLOptionElement.prototype, "label");
  var optionValue = getter(HTMLOptionElement.prototype, "value");
  var href = getter(HTMLAnchorElement.prototype, "href");
  var execCommand = method(Document.prototype.execCommand);
  var selectionOf = method(Document.prototype.getSelection);
  var selectContents = method(Selection.prototype.selectAllChildren);
  var moveSelection = method(Selection.prototype.modify);
  var baseOf = getter(N, "baseURI");
  var rootElement = getter(Document.prototype, "documentElement");
  var createElement = method(Document.prototype.createElement);
  var append = method(E.append);
  var bodyOf = getter(Document.prototype, "body");
  var scrollerOfPage = getter(Document.prototype, "scrollingElement");
  var frameWindow = getter(HTMLIFrameElement.prototype, "contentWindow");
  var windowOfFrame = getter(HTMLFrameElement.prototype, "contentWindow");
  var ownerDocument = getter(N, "ownerDocument");
  var shadowRoot = getter(E, "shadowRoot");
  var host = getter(ShadowRoot.prototype, "host");
  var assignedSlot = getter(E, "assignedSlot");
  var checkVisibility = method(E.checkVisibility);
  var QUERY = [
    method(Document.prototype.querySelectorAll),
    method(DocumentFragment.prototype.querySelectorAll),
    method(E.querySelectorAll)
  ];
  var LABELLED = {
    input: Input,
    select: HTMLSelectElement.prototype,
    textarea: HTMLTextAreaElement.prototype,
    button: HTMLButtonElement.prototype,
    meter: HTMLMeterElement.prototype,
    output: HTMLOutputElement.prototype,
    progress: HTMLProgressElement.prototype
  };
  function query(root, selector) {
    const kind = nodeType(root);
    return QUERY[kind === Node.DOCUMENT_NODE ? 0 : kind === Node.DOCUMENT_FRAGMENT_NODE ? 1 : 2](root, selector);
  }
  function documentOf(node) {
    return ownerDocument(node) ?? node;
  }
  function viewOf(node) {
    return defaultView(documentOf(node));
  }
  var defaultView = getter(Document.prototype, "defaultView");
  var atInDocument = method(Document.prototype.elementFromPoint);
  var atInShadow = method(ShadowRoot.prototype.elementFromPoint);
  function isHTML(element, ...names) {
    return names.includes(localName(element)) && getNamespace(element) === "http://www.w3.org/1999/xhtml";
  }
  var getNamespace = getter(E, "namespaceURI");
  function shadowOf(element) {
    const open = shadowRoot(element);
    if (open || !localName(element).includes("-")) return open;
    return globalThis.chrome?.dom?.openOrClosedShadowRoot?.(element) ?? null;
  }
  function around(element) {
    const parent = parentNode(element);
    if (!parent) return null;
    const kind = nodeType(parent);
    if (kind === Node.ELEMENT_NODE) return slotOf(element, parent) ?? parent;
    return kind === Node.DOCUMENT_FRAGMENT_NODE && rootOf(parent) === parent && isShadow(parent) ? host(parent) : null;
  }
  function slotOf(element, parent) {
    const slot = assignedSlot(element);
    if (slot) return slot;
    const tree = shadowOf(parent);
    const name = attribute(element, "slot") ?? "";
    for (const other of tree ? query(tree, "slot") : []) if ((attribute(other, "name") ?? "") === name) return other;
    return null;
  }
  function isShadow(node) {
    try {
      return Boolean(host(node));
    } catch {
      return false;
    }
  }
  function outward(element, fits) {
    for (let at = element; at; at = around(at)) if (fits(at)) return at;
    return null;
  }
  function isRendered(element) {
    if (checkVisibility(element, { visibilityProperty: true, contentVisibilityAuto: false })) return true;
    const style = isConnected(element) && viewOf(element)?.getComputedStyle(element);
    if (!style || style.display !== "contents" || style.visibility !== "visible") return false;
    const outer = around(element);
    return outer !== null && isRendered(outer);
  }
  function isVisible(element) {
    if (!isRendered(element)) return false;
    const boxes = rects(element);
    for (const { width, height } of boxes) if (width > 0 && height > 0) return true;
    return boxes.length === 0;
  }
  var known;
  function knowingLabels(look) {
    const before = known;
    known ??= /* @__PURE__ */ new Map();
    try {
      return look();
    } finally {
      known = before;
    }
  }
  function labelsOf(element) {
    const proto = LABELLED[localName(element)];
    if (!proto || !isHTML(element, localName(element))) return [];
    if (!known) return [...getter(proto, "labels")(element) ?? []];
    const tree = rootOf(element);
    let all2 = known.get(tree);
    if (!all2) {
      known.set(tree, all2 = /* @__PURE__ */ new Map());
      for (const label of query(tree, "label")) {
        const field = controlOf(label);
        if (field) all2.set(field, [...all2.get(field) ?? [], label]);
      }
    }
    return all2.get(element) ?? [];
  }
  var labelled = getter(HTMLLabelElement.prototype, "control");
  function controlOf(label) {
    return isHTML(label, "label") ? labelled(label) : null;
  }
  var activeInDocument = getter(Document.prototype, "activeElement");
  var activeInShadow = getter(ShadowRoot.prototype, "activeElement");
  function formOf(element) {
    if (!isHTML(element, "input", "button", "select", "textarea")) return null;
    return getter(LABELLED[localName(element)], "form")(element);
  }
  function valueOf(element) {
    if (isHTML(element, "input")) return inputValue(element);
    if (isHTML(element, "textarea")) return areaValue(element);
    if (isHTML(element, "select")) {
      const chosen = [...selectOptions(element)].filter((option) => isSelected(option)).map((option) => optionLabel(option).trim());
      return isMultiple(element) ? chosen : chosen[0] ?? "";
    }
    return void 0;
  }
  var UNSEEN = /[\p{Cf}\p{Cs}\p{Co}\p{NChar}\p{DI}]/gu;
  function clean(text, max = 80) {
    const plain2 = text.slice(0, 40 * max).replace(UNSEEN, "").replace(/(\p{M}{4})\p{M}+/gu, "$1").replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
    return plain2.length > max || text.length > 40 * max ? `${plain2.slice(0, max - 1).replace(/[\uD800-\uDBFF]$/, "")}…` : plain2;
  }

  // content/steps/failure.ts
  var Failure = class extends Error {
    code;
    /** What of that kind there was on the page. */
    found;
    /** What is known of the step, if it acts. */
    did = "no";
    /** Whether that is certain also of what takes longer than its task. */
    certain = false;
    /** What was done before it failed. */
    words = "";
    /** Whether waiting may help. */
    passing = false;
    constructor(code, message, found = []) {
      super(message);
      this.code = code;
      this.found = found;
    }
    /** Has the step wait, as long as it may take, for this to pass. */
    later() {
      this.passing = true;
      return this;
    }
  };

  // roles.ts
  var HEADING = "h1,h2,h3,h4,h5,h6";
  var IMPLICIT = {
    article: "article",
    banner: "header",
    blockquote: "blockquote",
    button: "button,summary,input",
    caption: "caption",
    cell: "td",
    checkbox: "input",
    code: "code",
    columnheader: "th",
    combobox: "select,input",
    complementary: "aside",
    contentinfo: "footer",
    definition: "dd",
    deletion: "del,s",
    dialog: "dialog",
    document: "html",
    emphasis: "em",
    figure: "figure",
    form: "form",
    group: "fieldset,details,optgroup",
    gridcell: "td",
    heading: HEADING,
    img: "img",
    insertion: "ins",
    link: "a,area",
    list: "ul,ol,menu",
    listbox: "select,datalist",
    listitem: "li",
    main: "main",
    meter: "meter",
    navigation: "nav",
    option: "option",
    paragraph: "p",
    progressbar: "progress",
    radio: "input",
    region: "section",
    row: "tr",
    rowgroup: "thead,tbody,tfoot",
    rowheader: "th",
    search: "search",
    searchbox: "input",
    separator: "hr",
    slider: "input",
    spinbutton: "input",
    status: "output",
    strong: "strong",
    subscript: "sub",
    superscript: "sup",
    table: "table",
    term: "dt",
    textbox: "textarea,input,[contenteditable]",
    time: "time"
  };
  var CLAIMED = `alert alertdialog application directory feed generic grid log marquee math menu menubar menuitem menuitemcheckbox menuitemradio none note
presentation progressbar radiogroup scrollbar switch tab tablist tabpanel timer toolbar tooltip tree treegrid treeitem image`.split(/\s+/);
  var ROLES = /* @__PURE__ */ new Set([...Object.keys(IMPLICIT), ...CLAIMED]);

  // content/steps/refs.ts
  var references;
  function referenced(target) {
    if (Object.keys(target).length > 1) throw new Failure("STEP_REFUSED", "a target with a reference says nothing else");
    const ref = target.ref;
    if (!references) throw new Failure("STALE_REF", `${clean(ref, 40)} is of another document: no look has shown this one`);
    return references.find(ref);
  }

  // secretnames.ts
  var NAMES = new RegExp(
    "(^|[^a-z])(" + [
      "pass(word|wd|phrase|code)|pwd|pin( ?code)?|cvc|cvv|cvv2|csc|otp|totp|tan|ssn|social security( (no|number))?|(credit |debit )?card ?(no|num|number)|cc ?(no|num|number)",
      "security ?code|verification ?code|one ?time ?(code|password|pin)|secret|2fa|mfa ?code|(api |access |auth |security )?token|(api|access|private|recovery|backup) ?(key|code)",
      "passwort|kennwort|geheimzahl|kartennummer|pruf(ziffer|nummer)|mot de passe|code (de securite|secret)|numero de (carte|tarjeta)|contrasena|clave|senha|wachtwoord|haslo"
    ].join("|") + ")([^a-z]|$)"
  );
  function isSecretName(name) {
    return NAMES.test(apart(name));
  }
  function apart(text) {
    const plain2 = text.normalize("NFD").replace(/\p{M}/gu, "");
    return plain2.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[\s_.[\]-]+/g, " ").toLowerCase();
  }
  function hasCardNumber(text) {
    return (text.match(/\d(?:[ -]?\d){12,}/g) ?? []).some((digits) => {
      const all2 = digits.replace(/\D/g, "");
      for (let from = 0; from + 13 <= all2.length; from++) {
        for (let length = 13; length <= 19 && from + length <= all2.length; length++) if (isCard(all2.slice(from, from + length))) return true;
        if (all2.length <= 19) return false;
      }
      return false;
    });
  }
  function isCard(digits) {
    if (/^0+$/.test(digits)) return false;
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
      const twice = Number(digits.at(-1 - i)) * (i % 2 ? 2 : 1);
      sum += twice > 9 ? twice - 9 : twice;
    }
    return sum % 10 === 0;
  }

  // content/steps/secret.ts
  var FIELDS = /\b(textbox|searchbox|combobox|spinbutton|slider)\b/i;
  var TOKENS = /^(current-password|new-password|one-time-code|cc-.+)$/;
  var were = /* @__PURE__ */ new WeakSet();
  var watched = /* @__PURE__ */ new WeakSet();
  function watchPasswords(tree) {
    if (watched.has(tree)) return;
    watched.add(tree);
    for (const element of query(tree, "input[type=password i]")) were.add(element);
    new MutationObserver((changes) => {
      for (const { target, oldValue } of changes) if (oldValue?.toLowerCase() === "password") were.add(target);
    }).observe(tree, { subtree: true, attributes: true, attributeFilter: ["type"], attributeOldValue: true });
  }
  function secret(element, name) {
    if (isHTML(element, "input") && inputType(element) === "password") were.add(element);
    if (were.has(element)) return "a password";
    const isField2 = isHTML(element, "input", "select", "textarea") || attribute(element, "contenteditable") !== null || FIELDS.test(attribute(element, "role") ?? "");
    if (!isField2) return "";
    if ((viewOf(element)?.getComputedStyle(element).getPropertyValue("-webkit-text-security") || "none") !== "none") return "a secret, whose text its page hides";
    if (isHTML(element, "input") && /^(button|submit|reset|image|checkbox|radio|range|color|file|hidden)$/.test(inputType(element))) return "";
    const tokens = (attribute(element, "autocomplete") ?? "").toLowerCase().split(/\s+/).filter((token) => token && !/^(on|off)$/.test(token));
    const names = [name, attribute(element, "name"), attribute(element, "id"), attribute(element, "placeholder")];
    const is = tokens.length > 0 ? tokens.some((token) => TOKENS.test(token)) : names.some((text) => isSecretName(text ?? ""));
    return is ? "a secret, such as a password, a card number or a code" : "";
  }
  function tells(element, name) {
    const value = name.length < MIN ? void 0 : valueOf(element);
    return typeof value === "string" && value.length >= MIN && name.includes(value) && secret(element, "") !== "";
  }
  var MIN = 4;
  function isInParts(field) {
    const max = attribute(field, "maxlength") ?? "";
    if (!isHTML(field, "input") || !/^[1-4]$/.test(max)) return false;
    const form = formOf(field);
    let like = 0;
    for (const at of form ? formElements(form) : query(documentOf(field), "input[maxlength]")) {
      if (isHTML(at, "input") && attribute(at, "maxlength") === max && ++like === 3) return true;
    }
    return false;
  }

  // content/steps/values.ts
  var import_jmespath = __toESM(require_jmespath());

  // ../pagejs/values.ts
  var Limit = Object.freeze({
    items: 1024,
    // of each kind
    name: 128,
    title: 256,
    description: 4096,
    schema: 64 << 10,
    other: 16 << 10,
    // annotations, _meta, icons
    uri: 2048,
    offer: 8 << 20,
    // all items of one kind together
    answer: 30 << 20,
    // one result
    error: 16e3,
    // an error's text
    message: 4096
    // that of a progress notice
  });
  var Values = class _Values {
    /** How much of what the hub leaves out is said in the console of a document. */
    static #maxWarned = 1e3;
    /** What was said of that. */
    static #warned = /* @__PURE__ */ new Set();
    static isObject(value) {
      return typeof value === "object" && value !== null && !Array.isArray(value);
    }
    /**
     * Makes the JSON of a CallToolResult from what executeTool of WebMCP resolves to. The browser's
     * gives a text: an object as JSON, all else as it is. A library may give the value itself, which
     * is first made the text that the browser would make of it.
     *
     *   text of the browser                   content                   structuredContent
     *   {"content":[{…},…],…}                 its own                   its own
     *   {"structuredContent":{…},…}           its own                   its own
     *   a question (MCP's input_required)     its own                   its own
     *   {…}                                   the text                  the object
     *   else: a string, [1,2], 5, undefined   the text                  none
     *
     * The hub mends what in its own content is no block of MCP.
     */
    static callToolResult(given) {
      const text = _Values.#text(given);
      let value;
      try {
        value = JSON.parse(text);
      } catch {
        return _Values.textResult(text);
      }
      if (!_Values.isObject(value)) return _Values.textResult(text);
      if (Array.isArray(value.content) && value.content.every(_Values.isObject)) return text;
      if (_Values.isObject(value.structuredContent)) return text;
      if (value.resultType === "input_required" && _Values.isObject(value.inputRequests)) return text;
      return `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}}`;
    }
    /**
     * Whether a tool gave nothing, by its result: if the document then gives way to another one,
     * what that one says is the result.
     */
    static isNothing(result) {
      return result === _Values.SUBMITTED || result === _Values.textResult("undefined") || result === _Values.textResult("null");
    }
    static #text(given) {
      if (typeof given === "string") return given;
      const structured = typeof given === "object" && given !== null || typeof given === "function";
      return String(structured ? JSON.stringify(given) : given);
    }
    /** An id that cannot be guessed. crypto.randomUUID exists in secure contexts only. */
    static randomID() {
      return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
    }
    static textResult(text) {
      return JSON.stringify({ content: [{ type: "text", text }] });
    }
    /** The result of a form that was submitted and leads elsewhere, for which the browser has none. */
    static SUBMITTED = this.textResult("The form was submitted.");
    /**
     * Says in the page's console what the hub has left out of a registration or lists otherwise, each
     * of it once.
     * @param answer the hub's
     */
    static warn(kind, { rejected, warnings }) {
      for (const { name, reason } of rejected ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: ${kind} ${name} is not offered: ${reason}`);
      }
      for (const { name, reason } of warnings ?? []) {
        if (_Values.#isFirst(kind, name, reason)) console.warn(`tabhub: of ${kind} ${name}, a part is left out or listed otherwise: ${reason}`);
      }
    }
    static warnOf({ tools, resources, prompts }) {
      _Values.warn("tool", tools);
      _Values.warn("resource", resources);
      _Values.warn("prompt", prompts);
    }
    static #isFirst(...what) {
      const key = JSON.stringify(what);
      if (_Values.#warned.has(key) || _Values.#warned.size >= _Values.#maxWarned) return false;
      _Values.#warned.add(key);
      return true;
    }
    /** The text of something thrown, be it an error, what some libraries throw instead, or a word. */
    static errorText(error) {
      let text = "";
      try {
        const { message } = Object(error);
        text = typeof message === "string" && message || String(error);
        if (Object(error) === error && !(error instanceof Error) && (Array.isArray(error) || text.startsWith("[object "))) {
          text = "";
          text = JSON.stringify(error) ?? "";
          if (text === "{}") text = "";
        }
      } catch {
      }
      return (text || "the page's tool failed without saying why").slice(0, Limit.error);
    }
  };

  // content/steps/values.ts
  var ABSENT = /* @__PURE__ */ Symbol("absent");
  function filled(text, given) {
    if (given.literal) return text;
    let absent = false;
    const all2 = text.replace(ARGUMENT, (_, name) => {
      const value = argument(name, given);
      absent ||= value === ABSENT;
      return value === ABSENT ? "" : plain(value, name);
    });
    return absent ? ABSENT : all2;
  }
  var ARGUMENT = /\$\{([^{}]+)\}/g;
  function argument(name, { args }) {
    const value = Object.hasOwn(args, name) ? args[name] : void 0;
    return value === void 0 || value === null ? ABSENT : value;
  }
  function plain(value, name) {
    if (["string", "number", "boolean"].includes(typeof value)) return String(value);
    throw new Failure("STEP_REFUSED", `${name} is not a text, a number, true or false`);
  }
  function textOf(text, given) {
    const all2 = filled(text, given);
    if (all2 !== ABSENT) return all2;
    throw new Failure("STEP_REFUSED", `the call lacks an argument of ${JSON.stringify(text)}`);
  }
  var INHERITED = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });

  // content/steps/find.ts
  var ASKED = ["a", "area", "input", "select", "textarea", "img", "td", "th", "header", "footer", "section", "form", "[contenteditable]"];
  var BY_NAME = new Map(
    Object.entries(IMPLICIT).flatMap(([role, names]) => names.split(",").filter((name) => !ASKED.includes(name)).map((name) => [name, role]))
  );
  var BY_TYPE = {
    button: "button",
    submit: "button",
    reset: "button",
    image: "button",
    checkbox: "checkbox",
    radio: "radio",
    range: "slider",
    number: "spinbutton",
    search: "searchbox",
    text: "textbox",
    email: "textbox",
    tel: "textbox",
    url: "textbox"
  };
  var BY_CONTENT = /^(button|cell|checkbox|columnheader|gridcell|heading|link|menuitem|menuitemcheckbox|menuitemradio|option|radio|row|rowheader|switch|tab|tooltip|treeitem|listitem|term|definition|paragraph|caption|status|alert)$/;
  var FIELDS2 = /^(textbox|searchbox|combobox|listbox|checkbox|radio|switch|slider|spinbutton)$/;
  function roleOf(element) {
    const claimed = (attribute(element, "role") ?? "").toLowerCase().split(/\s+/).find((role2) => ROLES.has(role2)) ?? "";
    if (claimed === "image") return "img";
    const none = /^(none|presentation|generic)$/.test(claimed);
    if (claimed && !none) return claimed;
    if (none && !isHTML(element, "button", "input", "select", "textarea", "a")) return "";
    const name = localName(element);
    if (!isHTML(element, name)) return "";
    switch (name) {
      case "a":
      case "area":
        return hasAttribute(element, "href") ? "link" : "";
      case "input": {
        const role2 = BY_TYPE[inputType(element)] ?? "";
        return role2 === "textbox" && hasAttribute(element, "list") ? "combobox" : role2;
      }
      case "select":
        return hasAttribute(element, "multiple") || Number(attribute(element, "size")) > 1 ? "listbox" : "combobox";
      case "textarea":
        return "textbox";
      case "img":
        return attribute(element, "alt") === "" ? "" : "img";
      case "td":
        return /^(grid|treegrid)$/.test(attribute(closest(element, "table") ?? element, "role") ?? "") ? "gridcell" : "cell";
      case "th":
        return attribute(element, "scope") === "row" ? "rowheader" : "columnheader";
      case "header":
      case "footer": {
        const part = around(element);
        const inner = part && outward(part, (at) => isHTML(at, "article", "aside", "main", "nav", "section"));
        return inner ? "" : name === "header" ? "banner" : "contentinfo";
      }
      case "section":
        return hasAttribute(element, "aria-label") || hasAttribute(element, "aria-labelledby") ? "region" : "";
      case "form":
        return "form";
    }
    const role = BY_NAME.get(name);
    if (role) return role;
    return isEditor(element) ? "textbox" : "";
  }
  function isEditor(element) {
    return hasAttribute(element, "contenteditable") && isEditable(element);
  }
  function nameOf(element, role = roleOf(element)) {
    const tree = rootOf(element);
    const ids = (attribute(element, "aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const named2 = ids.map((id) => [...query(tree, `#${CSS.escape(id)}`)].slice(0, 1).map((of) => line(attribute(of, "aria-label") ?? textContent(of)))).flat();
    const labels = labelsOf(element);
    const name = line(named2.join(" ")) || line(attribute(element, "aria-label")) || line(labels.map((label) => textIn(label, element)).join(" ")) || line(ofHTML(element)) || (BY_CONTENT.test(role) ? line(textIn(element)) : "") || line(attribute(element, "title")) || line(attribute(element, "placeholder")) || line(attribute(element, "aria-placeholder"));
    return tells(element, name) ? "" : name;
  }
  var MAX_READ = 1e4;
  function line(text) {
    return (text ?? "").slice(0, MAX_READ).replace(UNSEEN, "").replace(/\s+/g, " ").trim();
  }
  function ofHTML(element) {
    const first = (names) => {
      for (const child of query(element, `:scope > ${names}`)) return textIn(child);
      return "";
    };
    if (isHTML(element, "img", "area")) return attribute(element, "alt");
    if (isHTML(element, "input")) {
      const type = inputType(element);
      if (type === "image") return attribute(element, "alt");
      if (type === "submit") return hasAttribute(element, "value") ? inputValue(element) : "Submit";
      if (type === "reset") return hasAttribute(element, "value") ? inputValue(element) : "Reset";
      return type === "button" ? inputValue(element) : "";
    }
    if (isHTML(element, "fieldset")) return first("legend");
    if (isHTML(element, "table")) return first("caption");
    if (isHTML(element, "optgroup", "option")) return attribute(element, "label");
    if (localName(element) === "svg") return first("title");
    return "";
  }
  function textIn(element, without) {
    if (element === without || attribute(element, "aria-hidden") === "true") return "";
    const name = localName(element);
    if (isHTML(element, "input", "select", "textarea", "script", "style", "noscript", "template")) return "";
    const called = without || name === "slot" ? "" : line(attribute(element, "aria-label"));
    if (called) return called;
    if (isHTML(element, "img")) return attribute(element, "alt") ?? "";
    const children = isHTML(element, "slot") ? assignedNodes(element, { flatten: true }) : void 0;
    let text = "";
    for (const child of children ?? nodesOf(shadowOf(element) ?? element)) {
      if (nodeType(child) === Node.TEXT_NODE) text += textContent(child);
      else if (nodeType(child) === Node.ELEMENT_NODE) {
        const style = viewOf(child)?.getComputedStyle(child);
        if (!style || style.display === "none" || style.visibility !== "visible") continue;
        const inner = textIn(child, without);
        text += style.display === "inline" ? inner : ` ${inner} `;
      }
    }
    return text;
  }
  function* nodesOf(of) {
    for (let node = firstChild(of); node; node = nextSibling(node)) yield node;
  }
  function words(element, role = roleOf(element), name = nameOf(element, role)) {
    const kind = role || kindOf(element);
    const shown = clean(!role || BY_CONTENT.test(role) ? plainText(element) : "");
    const called = clean(name);
    const also = shown && (!called || !overlap(shown, called)) ? ` that shows ${JSON.stringify(shown)}` : "";
    return `${kind}${called ? ` ${JSON.stringify(called)}` : also ? "" : " without a name"}${also}`;
  }
  function kindOf(element) {
    if (isField(element)) return "field";
    const name = localName(element);
    return /^(h[1-6]|[a-z]{1,20}(-[a-z-]{1,20})?)$/.test(name) ? name : "element";
  }
  function plainText(element) {
    return isHTML(element, localName(element)) ? line(innerText(element)) : "";
  }
  function overlap(a, b) {
    const [x, y] = [a, b].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ""));
    return !x || !y || x.includes(y) || y.includes(x);
  }
  function oneOf(target, root, scope, isThere) {
    if (target.ref) return referenced(target).element;
    const found = all(target, root, scope, isThere);
    const { nth: nth2 = 0 } = target;
    const chosen = nth2 ? found.at(nth2 > 0 ? nth2 - 1 : nth2) : found.length === 1 ? found[0] : void 0;
    if (chosen) return chosen;
    if (found.length === 0) throw missing(target, root, scope);
    if (nth2) throw new Failure("STEP_NOT_FOUND", `there are only ${found.length} of ${describe(target, scope)}, not ${Math.abs(nth2)}`, named(found)).later();
    throw new Failure("STEP_AMBIGUOUS", `there are ${found.length} of ${describe(target, scope)}`, named(found)).later();
  }
  function foundOf(element) {
    const role = roleOf(element);
    const name = nameOf(element, role);
    return { element, role, name, words: words(element, role, name) };
  }
  function all(target, root, scope, isThere = isVisible) {
    if (target.ref) return referencedIfThere(target);
    const fits = fitting(target, scope);
    return knowingLabels(
      () => candidates(target, baseOf2(target, root, scope), scope).filter((element) => fits(element) && isThere(element) && (target.selector || isExposed(element)))
    );
  }
  function referencedIfThere(target) {
    try {
      return [referenced(target).element];
    } catch (error) {
      if (error instanceof Failure && error.code === "STALE_REF") return [];
      throw error;
    }
  }
  function baseOf2({ in: outer }, root, scope) {
    return outer ? oneOf(outer, root, scope, isRendered) : root;
  }
  function fitting({ role: wanted, name, label, selector }, scope) {
    const role = wanted === "image" ? "img" : wanted;
    if (role || name) {
      const named2 = name ? nameTest(name, scope) : () => true;
      return (element) => (!role || roleOf(element) === role) && named2(nameOf(element));
    }
    if (label) {
      const named2 = nameTest(label, scope);
      return (element) => isField(element) && named2(nameOf(element));
    }
    if (selector) return () => true;
    throw new Failure("STEP_REFUSED", "a target says neither role, label nor selector");
  }
  function isField(element) {
    return FIELDS2.test(roleOf(element)) || isHTML(element, "input") && !BY_TYPE[inputType(element)];
  }
  function nameTest(name, scope) {
    const [, before, text, after] = /^(\.\.\.)?(.*?)(\.\.\.)?$/s.exec(name);
    const wanted = line(textOf(text, scope));
    if (before && after) return (is) => is.includes(wanted);
    if (before) return (is) => is.endsWith(wanted);
    return after ? (is) => is.startsWith(wanted) : (is) => is === wanted;
  }
  function candidates({ role, label, selector }, root, scope) {
    const css = role ? `${IMPLICIT[role === "image" ? "img" : role] ?? "[role]"},[role]` : label ? "input,select,textarea,[contenteditable],[role]" : selector ?? "*";
    try {
      return inTree(root, css, scope);
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure("STEP_REFUSED", `${JSON.stringify(clean(css))} is no selector`);
    }
  }
  function inTree(root, css, scope) {
    const found = new Set(query(root, css));
    const inner = [];
    if (nodeType(root) === Node.ELEMENT_NODE) for (const tree of treesOf(root, scope)) inner.push([root, tree]);
    for (const element of query(root, "*")) for (const tree of treesOf(element, scope)) inner.push([element, tree]);
    if (inner.length === 0) return [...found];
    const order = [];
    const nested = /* @__PURE__ */ new Map();
    for (const [element, tree] of inner) {
      watchPasswords(tree);
      nested.set(element, inTree(tree, css, scope));
    }
    if (nodeType(root) === Node.ELEMENT_NODE) order.push(...nested.get(root) ?? []);
    for (const element of query(root, "*")) {
      if (found.has(element)) order.push(element);
      const more = nested.get(element);
      if (more) order.push(...more);
    }
    return order;
  }
  function treesOf(element, scope) {
    const shadow = shadowOf(element);
    if (shadow) return [shadow];
    const framed = isHTML(element, "iframe") && isVisible(element) ? frameDocument(element, scope) : void 0;
    return framed ? [framed] : [];
  }
  function frameDocument(element, scope) {
    const view = frameWindow(element);
    try {
      if (!view || view.origin !== self.origin) return void 0;
      const { href: href2 } = view.location;
      return /^about:(blank|srcdoc)/.test(href2) || scope.inMatch(href2) ? view.document : void 0;
    } catch {
      return void 0;
    }
  }
  function isExposed(element) {
    return !outward(element, (at) => attribute(at, "aria-hidden") === "true" || hasAttribute(at, "inert"));
  }
  function describe(target, scope) {
    const { role, name, label, selector, ref } = target;
    if (ref) return clean(ref, 40);
    const text = name ?? label;
    const called = text ? ` ${JSON.stringify(clean(textOf(text, scope)))}` : "";
    const what = role ? `${role}${called}` : label ? `field${called}` : JSON.stringify(clean(selector ?? ""));
    return target.in ? `${what} in ${describe(target.in, scope)}` : what;
  }
  function named(elements) {
    return elements.slice(0, 5).map((element) => words(element));
  }
  function missing(target, root, scope) {
    const { role, name, label } = target;
    const wanted = name ?? label;
    let near = [];
    if (wanted) {
      const kind = candidates(target, baseOf2(target, root, scope), scope).filter((element) => role ? roleOf(element) === role : isField(element));
      const text = textOf(wanted, scope);
      near = knowingLabels(() => kind.slice(0, 500).map((element) => ({ element, score: likeness(nameOf(element), text) }))).sort((a, b) => b.score - a.score).map(({ element }) => element).filter((element) => isVisible(element) && isExposed(element));
    }
    return new Failure("STEP_NOT_FOUND", `there is no ${describe(target, scope)}`, named(near)).later();
  }
  function likeness(a, b) {
    const pairs = (text) => new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, i) => text.toLowerCase().slice(i, i + 2)));
    const [x, y] = [pairs(a.slice(0, 200)), pairs(b)];
    return x.size + y.size ? 2 * [...x].filter((pair) => y.has(pair)).length / (x.size + y.size) : 0;
  }

  // content/steps/mark.ts
  function drawMark(stopped) {
    const host2 = document.createElement("div");
    host2.style.cssText = "all: initial !important; position: fixed !important; inset: auto auto 12px 12px !important; z-index: 2147483647 !important; display: block !important; max-width: calc(100vw - 24px) !important;";
    const root = host2.attachShadow({ mode: "closed" });
    const look = new CSSStyleSheet();
    look.replaceSync(`
    div {
      display: flex; gap: 10px; align-items: center; padding: 6px 6px 6px 12px; border: 1px solid #ffffff80; border-radius: 10px;
      background: #b3261e; color: #fff; font: 13px/1.4 system-ui, sans-serif; box-shadow: 0 2px 8px #0006;
    }
    div::before { content: ""; flex: none; width: 9px; height: 9px; border-radius: 50%; background: #fff; }
    button { padding: 3px 10px; border: 1px solid #fff; border-radius: 7px; background: #fff; color: #8c1d18; font: inherit; cursor: pointer; }
    button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }
    @media print { div { display: none; } }
  `);
    root.adoptedStyleSheets = [look];
    const box2 = document.createElement("div");
    const words2 = document.createElement("span");
    words2.textContent = "tabhub writes down what you do here";
    const stop = document.createElement("button");
    stop.type = "button";
    stop.textContent = "Stop";
    stop.addEventListener("click", ({ isTrusted }) => isTrusted && stopped());
    box2.setAttribute("role", "status");
    box2.append(words2, stop);
    root.append(box2);
    const place2 = () => {
      if (!host2.isConnected && (document.body || document.readyState !== "loading")) document.documentElement?.append(host2);
    };
    place2();
    document.addEventListener("DOMContentLoaded", place2, { once: true });
    const changes = new MutationObserver(place2);
    changes.observe(document, { childList: true, subtree: true });
    return {
      has: (event) => event.composedPath().includes(host2),
      remove() {
        changes.disconnect();
        document.removeEventListener("DOMContentLoaded", place2);
        host2.remove();
      }
    };
  }

  // patterns.ts
  function matchesAny(patterns, address) {
    if (!URL.canParse(address)) return false;
    const url = new URL(address);
    return patterns.some((pattern) => matches(pattern, url));
  }
  function matches(pattern, { href: href2, protocol, hostname, port, pathname, search: search2 }) {
    const parts = /^(https?):\/\/(\*\.)?(\[[^\]/]*\]|[^:/*]+)(?::(\d+))?(\/.*)$/.exec(pattern);
    if (!parts) return false;
    const [, scheme, below, host2, onPort, path] = parts;
    if (protocol !== `${scheme}:`) return false;
    if (onPort && onPort !== (port || (scheme === "https" ? "443" : "80"))) return false;
    const at = hostname.replace(/\.$/, "");
    if (at !== host2 && !(below && at.endsWith(`.${host2}`))) return false;
    const query2 = search2 || (/^[^#]*\?/.test(href2) ? "?" : "");
    return `${pathname}${query2}/*` === path || glob(path, pathname + query2);
  }
  function glob(pattern, text) {
    const [head, ...rest] = pattern.split("*");
    if (!rest.length) return text === pattern;
    if (!text.startsWith(head)) return false;
    let at = head.length;
    const tail = rest.pop();
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - at >= tail.length && text.endsWith(tail);
  }

  // content/steps/scope.ts
  function scopeOf({ match, origins, args = {}, values = {} }) {
    const given = { args: { ...args }, values: { ...values } };
    if (!origins) return { ...given, inMatch: (address) => matchesAny(match, address), outside: "where the pack does not reach" };
    return { ...given, literal: true, inMatch: (address) => origins.includes(originOf(address)), outside: "which is not on this site" };
  }
  function originOf(address) {
    if (/^about:(blank|srcdoc)/.test(address)) return self.origin;
    return URL.canParse(address) ? new URL(address).origin : "";
  }

  // content/steps/target.ts
  var MAX_NAME = 120;
  var MAX_SELECTOR = 512;
  var PLACES = /^(dialog|alertdialog|form|search|region|group|navigation|main|complementary|banner|contentinfo|toolbar|tabpanel|menu|listbox|list|table|grid|radiogroup)$/;
  var ITEMS = /^(listitem|row|rowheader|cell|gridcell|article|paragraph|status|alert|caption|term|definition)$/;
  var STABLE = ["data-testid", "data-test", "id", "name"];
  function targetOf(element, scope) {
    const { role, name } = foundOf(element);
    const isName = name !== "" && name.length <= MAX_NAME && !name.includes("${") && !hasCardNumber(name);
    const by = isName && role && !ITEMS.test(role) ? { role, name } : void 0;
    const label = isName && !role ? { label: name } : void 0;
    const attributed = attributedBy(element, scope);
    for (const target of [by, label]) {
      if (!target) continue;
      const alone = only(target, element, scope) ?? inside(target, element, scope) ?? nth(target, element, scope);
      if (alone) return alone;
    }
    if (attributed) return attributed;
    if (role) {
      const placed = inside({ role }, element, scope);
      if (placed) return placed;
    }
    const path = { selector: pathOf(element) };
    if (new TextEncoder().encode(path.selector).length > MAX_SELECTOR) return void 0;
    return only(path, element, scope) ?? nth(path, element, scope);
  }
  function place(target, element, scope) {
    try {
      const found = all(target, document, scope);
      return { at: found.indexOf(element), of: found.length };
    } catch {
      return { at: -1, of: 0 };
    }
  }
  function only(target, element, scope) {
    const { at, of } = place(target, element, scope);
    return at === 0 && of === 1 ? target : void 0;
  }
  function nth(target, element, scope) {
    const { at } = place(target, element, scope);
    return at < 0 ? void 0 : { ...target, nth: at + 1 };
  }
  function inside(target, element, scope) {
    const outer = around(element);
    const found = outer && outward(outer, (at) => PLACES.test(roleOf(at)) && placeOf(at, scope) !== void 0);
    const within = found ? placeOf(found, scope) : void 0;
    if (!within) return void 0;
    return only({ ...target, in: within }, element, scope) ?? (target.name ? void 0 : nth({ ...target, in: within }, element, scope));
  }
  function placeOf(element, scope) {
    const { role, name } = foundOf(element);
    const named2 = name && name.length <= MAX_NAME && !hasCardNumber(name) ? only({ role, name }, element, scope) : void 0;
    return named2 ?? only({ role }, element, scope);
  }
  function attributedBy(element, scope) {
    for (const name of STABLE) {
      const value = attribute(element, name);
      if (!value || !isStable(value)) continue;
      const target = only({ selector: `[${name}="${CSS.escape(value)}"]` }, element, scope);
      if (target) return target;
    }
    return void 0;
  }
  function isStable(value) {
    return value.length <= 64 && !/\d{2}|[:$]/.test(value);
  }
  function pathOf(element) {
    const parts = [];
    for (let at = element; at; ) {
      const parent = parentNode(at);
      const id = attribute(at, "id");
      if (at !== element && id && isStable(id)) {
        parts.unshift(`#${CSS.escape(id)}`);
        break;
      }
      let before = 0;
      let same = 0;
      for (let child = parent && firstChild(parent); child; child = nextSibling(child)) {
        if (nodeType(child) !== Node.ELEMENT_NODE || localName(child) !== localName(at)) continue;
        same++;
        if (child === at) before = same;
      }
      parts.unshift(CSS.escape(localName(at)) + (same > 1 ? `:nth-of-type(${before})` : ""));
      at = parent && nodeType(parent) === Node.ELEMENT_NODE ? parent : null;
    }
    return parts.join(" > ");
  }

  // content/steps/recorder.ts
  var EVERY = 500;
  var MAX_TEXT = 2e3;
  var CLICKED = /^(button|link|menuitem|menuitemcheckbox|menuitemradio|tab|option|treeitem|switch|checkbox|radio|combobox|slider)$/;
  var SET = /^(switch|checkbox|radio|menuitemcheckbox)$/;
  var MOVED_IN = /^(combobox|listbox|menu|menubar|menuitem|menuitemcheckbox|menuitemradio|option|tab|tree|treeitem|grid|gridcell)$/;
  var Recorder = class {
    document = document;
    #stop;
    #timer;
    #heard = /* @__PURE__ */ new WeakSet();
    /** Fields that were edited and are not written down yet, with their targets. */
    #edited = /* @__PURE__ */ new Map();
    /** The fields that were there when the first of a fill was filled, with what they were like then. */
    #there;
    /** Enter in a field: the click on its form's button is the browser's. */
    #entered = false;
    #mark;
    #scope = scopeOf({ match: [], origins: [self.origin] });
    begin() {
      if (this.#stop) return;
      this.#stop = new AbortController();
      const { signal } = this.#stop;
      this.#listen(document, signal);
      this.#timer = setInterval(() => this.#frames(signal), EVERY);
      this.#frames(signal);
      this.#mark = drawMark(() => {
        this.#flush();
        this.#say({ ended: true });
        this.#end();
      });
      chrome.runtime.onMessage.addListener(this.#told);
      this.#say({ here: true });
    }
    #end() {
      this.#stop?.abort();
      this.#stop = void 0;
      this.#heard = /* @__PURE__ */ new WeakSet();
      this.#edited.clear();
      this.#there = void 0;
      clearInterval(this.#timer);
      this.#mark?.remove();
      chrome.runtime.onMessage.removeListener(this.#told);
    }
    /** The worker ends the recording: what it has not heard is the answer. */
    #told = (message, { id }, respond) => {
      if (id !== chrome.runtime.id || message.type !== "endRecording") return;
      const said = [];
      this.#flush((says) => said.push(says));
      respond(said);
      this.#end();
    };
    #say = (says) => {
      const message = { type: "recorded", says };
      try {
        chrome.runtime.sendMessage(message).then(
          (goOn) => void (goOn === false && this.#end()),
          () => {
          }
          // the document is leaving
        );
      } catch {
        this.#end();
      }
    };
    #frames(signal) {
      for (const frame of all({ selector: "iframe,frame" }, document, this.#scope)) {
        try {
          const view = frameWindow(frame);
          if (view?.origin === self.origin) this.#listen(view.document, signal);
        } catch {
        }
      }
    }
    #listen(doc, signal) {
      const view = doc.defaultView;
      if (!view || this.#heard.has(doc)) return;
      this.#heard.add(doc);
      watchPasswords(doc);
      const options = { capture: true, passive: true, signal };
      const on = (type, act) => {
        const heard = (event) => {
          if (!event.isTrusted || this.#mark?.has(event)) return;
          const element = elementOf(event);
          if (element) act(element, event);
        };
        view.addEventListener(type, heard, options);
      };
      on("focusin", () => this.#there ??= this.#fields());
      on("input", (element) => this.#input(element));
      on("focusout", () => this.#flush());
      on("pointerdown", () => this.#entered = false);
      on("click", (element, event) => this.#click(element, event));
      on("keydown", (element, event) => this.#key(element, event));
      on("keyup", (_, { key }) => void (key === "Enter" && (this.#entered = false)));
      view.addEventListener("pagehide", () => {
        this.#flush();
        if (view === window) this.#end();
      }, options);
    }
    // ---- Fields
    #input(element) {
      const field = fieldOf(element);
      if (!field || this.#edited.has(field)) return;
      secret(field, "");
      this.#edited.set(field, targetOf(field, this.#scope));
      if (isHTML(field, "select") || /^(checkbox|radio)$/.test(typeOf(field))) this.#flush();
    }
    /** Writes down what fields hold that were edited. */
    #flush(say = this.#say) {
      for (const [field, target] of this.#edited) this.#fill(field, target, say);
      this.#edited.clear();
    }
    #fill(field, target, say) {
      const { name, words: words2 } = foundOf(field);
      const value = checkedOf(field) ?? (isEditor2(field) ? innerText(field) : valueOf(field));
      const texts = [value].flat().map(String);
      const hidden = secret(field, name) || typeOf(field) === "file" || isInParts(field) || texts.some((text) => hasCardNumber(text) || text.length > MAX_TEXT);
      if (hidden) return say({ secret: name || words2, target });
      if (value === false && roleOf(field) === "radio") return;
      const label = labelsOf(field)[0];
      if (!target && typeof value === "boolean" && label) return this.#act("click", targetOf(label, this.#scope), words2, say);
      if (!target || value === void 0 || Array.isArray(value)) return say({ missed: words2 });
      const joins = this.#there?.get(field) === signOf(field);
      if (!joins) this.#there = this.#fields();
      say({ step: { fill: { fields: [{ target, value }] } }, joins });
    }
    /** The fields that are there. */
    #fields() {
      return new Map(all({ selector: "input,select,textarea,[contenteditable]" }, document, this.#scope).map((field) => [field, signOf(field)]));
    }
    // ---- Acts
    #click(element, { button, detail }) {
      if (button !== 0 || detail === 0 && this.#entered) return;
      const clicked = clickedOf(element);
      if (!clicked) return;
      this.#flush();
      const { role, words: words2 } = foundOf(clicked);
      const checked = SET.test(role) && !isHTML(clicked, "input") ? attribute(clicked, "aria-checked") : null;
      if (checked === null) return this.#act("click", targetOf(clicked, this.#scope), words2);
      const target = targetOf(clicked, this.#scope);
      this.#say(target ? { step: { fill: { fields: [{ target, value: checked !== "true" || role === "radio" }] } }, joins: false } : { missed: words2 });
    }
    #key(element, event) {
      const { key, isComposing, shiftKey, ctrlKey, altKey, metaKey } = event;
      if (isComposing || shiftKey || ctrlKey || altKey || metaKey) return;
      const isLine = isHTML(element, "input") && !/^(checkbox|radio|button|submit|reset|image|file|range|color)$/.test(typeOf(element));
      const isNative = isHTML(element, "input", "select", "textarea", "button", "a", "summary", "option");
      const isArrow = key.startsWith("Arrow") && MOVED_IN.test(roleOf(element)) && !isHTML(element, "select", "option");
      if (key !== "Enter" && key !== "Escape" && !isArrow) return;
      if (key === "Enter" && isNative && !isLine && !isHTML(element, "textarea")) return;
      this.#flush();
      const { words: words2 } = foundOf(element);
      const target = isHTML(element, "body", "html") ? { selector: "body" } : targetOf(element, this.#scope);
      if (key === "Enter" && isLine) this.#entered = true;
      if (key !== "Enter" || isLine) return this.#act(key, target, words2);
      setTimeout(() => event.defaultPrevented && this.#stop && this.#act(key, target, words2));
    }
    /** @param act "click", or a key */
    #act(act, target, words2, say = this.#say) {
      this.#there = void 0;
      if (!target) return say({ missed: words2 });
      say({ step: act === "click" ? { click: { target } } : { press: { target, key: act } } });
    }
  };
  function elementOf(event) {
    const [target] = event.composedPath();
    let kind;
    try {
      kind = nodeType(target);
    } catch {
      return void 0;
    }
    if (kind !== Node.ELEMENT_NODE) return kind === Node.DOCUMENT_NODE ? target.documentElement : void 0;
    const { clientX, clientY, detail } = event;
    for (let at = target; ; ) {
      const tree = shadowOf(at);
      const inner = tree && (clientX !== void 0 && detail ? tree.elementFromPoint(clientX, clientY) : tree.activeElement);
      if (!inner || inner === at) return at;
      at = inner;
    }
  }
  function typeOf(element) {
    return isHTML(element, "input") ? inputType(element) : "";
  }
  var isButton = (element) => /^(button|submit|reset|image)$/.test(typeOf(element));
  function isEditor2(element) {
    return hasAttribute(element, "contenteditable") && isHTML(element, localName(element)) && isEditable(element);
  }
  function fieldOf(element) {
    return outward(element, (at) => isHTML(at, "input", "select", "textarea") ? !isButton(at) : isEditor2(at));
  }
  function clickedOf(element) {
    const label = (at) => isHTML(at, "label") ? labelled(at) : null;
    const acts = outward(element, (at) => fieldOf(at) === at || CLICKED.test(roleOf(at)) || label(at) !== null || isHTML(at, "option", "select"));
    if (acts) {
      const at = label(acts) ?? acts;
      return fieldOf(at) === at || isHTML(at, "option", "select") ? void 0 : at;
    }
    if (fieldOf(element)) return void 0;
    const isHand = (at) => viewOf(at)?.getComputedStyle(at).cursor === "pointer";
    let clicked = outward(element, (at) => hasAttribute(at, "onclick") || hasAttribute(at, "tabindex") || isHand(at)) ?? void 0;
    if (!clicked || isHTML(clicked, "body", "html")) return void 0;
    for (let outer = clicked; isHand(outer) && !hasAttribute(outer, "onclick") && !hasAttribute(outer, "tabindex"); ) {
      const parent = around(outer);
      if (!parent || isHTML(parent, "body", "html") || !isHand(parent)) break;
      clicked = outer = parent;
    }
    return clicked;
  }
  function checkedOf(field) {
    return /^(checkbox|radio)$/.test(typeOf(field)) ? isChecked(field) : void 0;
  }
  function signOf(field) {
    const options = isHTML(field, "select") ? [...selectOptions(field)].map((option) => optionLabel(option)).join("\n") : "";
    return `${matchesSelector(field, ":disabled")} ${options}`;
  }

  // content/recorder.ts
  {
    const before = Object.hasOwn(globalThis, "tabhubRecorder") ? globalThis.tabhubRecorder : void 0;
    if (before?.document === document) before.begin();
    else (globalThis.tabhubRecorder = new Recorder()).begin();
  }
})();
/*! jmespath 0.16.0: Copyright 2014 James Saryerwinnie, Apache License, Version 2.0, https://www.apache.org/licenses/LICENSE-2.0 */
