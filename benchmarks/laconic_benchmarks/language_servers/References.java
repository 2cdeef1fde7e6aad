// Prints what the names in Java files mean: D key path line kind name | U key path line | H heir base.
// Overloads have one key: the class and the name.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.*;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.lang.model.type.*;
import javax.lang.model.util.*;
import javax.tools.*;

public class References {
  static Trees trees;
  static Types types;
  static Elements elements;
  static CompilationUnitTree unit;
  static PrintStream out;

  public static void main(String[] args) throws Exception {
    out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, "UTF-8");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager manager = compiler.getStandardFileManager(d -> {}, null, null);
    List<String> files = Files.readAllLines(Path.of(args[0]));
    List<String> options = List.of("-proc:none", "-Xmaxerrs", "1", "-nowarn", "-implicit:none");
    JavacTask task = (JavacTask) compiler.getTask(
        Writer.nullWriter(), manager, d -> {}, options, null, manager.getJavaFileObjectsFromStrings(files));
    trees = Trees.instance(task);
    types = task.getTypes();
    elements = task.getElements();
    List<CompilationUnitTree> units = new ArrayList<>();
    for (CompilationUnitTree each : task.parse()) units.add(each);
    task.analyze();
    for (CompilationUnitTree each : units) {
      unit = each;
      new Scanner().scan(new TreePath(each), null);
    }
    out.flush();
  }

  static String key(Element e) {
    if (e == null) return null;
    switch (e.getKind()) {
      case CLASS: case INTERFACE: case ENUM: case RECORD: case ANNOTATION_TYPE:
        return elements.getBinaryName((TypeElement) e).toString();
      case METHOD: case CONSTRUCTOR: case FIELD: case ENUM_CONSTANT: case RECORD_COMPONENT:
        String owner = key(e.getEnclosingElement());
        String mark = e.getKind() == ElementKind.METHOD || e.getKind() == ElementKind.CONSTRUCTOR ? "()" : "";
        return owner == null ? null : owner + "#" + e.getSimpleName() + mark;
      default:
        return null;
    }
  }

  static class Scanner extends TreePathScanner<Void, Void> {
    void define(Tree tree, String kind, CharSequence name) {
      Element e = trees.getElement(getCurrentPath());
      String key = key(e);
      if (key == null || name.length() == 0) return;
      out.println(String.join("\t", "D", key, path(), "" + nameLine(tree, name), kind, name));
      if (e instanceof TypeElement) heirs((TypeElement) e, key);
      if (e instanceof ExecutableElement && e.getKind() == ElementKind.METHOD) overrides((ExecutableElement) e, key);
    }

    void heirs(TypeElement type, String key) {
      for (TypeElement up : above(type)) out.println(String.join("\t", "H", key, key(up)));
    }

    void overrides(ExecutableElement method, String key) {
      TypeElement owner = (TypeElement) method.getEnclosingElement();
      for (TypeElement up : above(owner))
        for (ExecutableElement each : ElementFilter.methodsIn(up.getEnclosedElements()))
          if (elements.overrides(method, each, owner)) out.println(String.join("\t", "H", key, key(each)));
    }

    List<TypeElement> above(TypeElement type) {
      List<TypeElement> found = new ArrayList<>();
      Deque<TypeMirror> queue = new ArrayDeque<>(types.directSupertypes(type.asType()));
      while (!queue.isEmpty()) {
        Element e = types.asElement(queue.pop());
        if (!(e instanceof TypeElement) || found.contains(e) || key(e) == null) continue;
        found.add((TypeElement) e);
        queue.addAll(types.directSupertypes(e.asType()));
      }
      return found;
    }

    void use(Tree tree, long at) {
      String key = key(trees.getElement(getCurrentPath()));
      if (key != null && at >= 0) out.println(String.join("\t", "U", key, path(), "" + line(at)));
    }

    String path() { return Path.of("").toAbsolutePath().relativize(Path.of(unit.getSourceFile().toUri())).toString(); }
    long line(long at) { return unit.getLineMap().getLineNumber(at); }
    long start(Tree tree) { return trees.getSourcePositions().getStartPosition(unit, tree); }
    long end(Tree tree) { return trees.getSourcePositions().getEndPosition(unit, tree); }

    long nameLine(Tree tree, CharSequence name) {
      try {
        String text = unit.getSourceFile().getCharContent(true).toString();
        int from = (int) start(tree);
        if (tree instanceof ClassTree) from = (int) Math.max(from, end(((ClassTree) tree).getModifiers()));
        if (tree instanceof MethodTree) {
          Tree result = ((MethodTree) tree).getReturnType();
          from = (int) Math.max(from, Math.max(end(((MethodTree) tree).getModifiers()), result == null ? -1 : end(result)));
        }
        if (tree instanceof VariableTree && ((VariableTree) tree).getType() != null)
          from = (int) Math.max(from, end(((VariableTree) tree).getType()));
        java.util.regex.Matcher found = java.util.regex.Pattern.compile("\\b" + name + "\\b").matcher(text);
        return line(found.find(Math.max(from, 0)) ? found.start() : start(tree));
      } catch (IOException | IndexOutOfBoundsException error) {
        return line(start(tree));
      }
    }

    public Void visitClass(ClassTree tree, Void p) {
      String kind = tree.getKind() == Tree.Kind.INTERFACE ? "interface" : "class";
      define(tree, kind, tree.getSimpleName());
      return super.visitClass(tree, p);
    }

    public Void visitMethod(MethodTree tree, Void p) {
      boolean made = start(tree) < 0 || end(tree) <= start(tree);
      Element e = trees.getElement(getCurrentPath());
      if (made || e == null || elements.getOrigin(e) != Elements.Origin.EXPLICIT) return null;
      boolean constructor = e.getKind() == ElementKind.CONSTRUCTOR;
      define(tree, constructor ? "constructor" : "method",
          constructor ? e.getEnclosingElement().getSimpleName() : tree.getName());
      return super.visitMethod(tree, p);
    }

    public Void visitVariable(VariableTree tree, Void p) {
      define(tree, "field", tree.getName());
      return super.visitVariable(tree, p);
    }

    public Void visitIdentifier(IdentifierTree tree, Void p) {
      if (!tree.getName().contentEquals("this") && !tree.getName().contentEquals("super")) use(tree, start(tree));
      return super.visitIdentifier(tree, p);
    }

    public Void visitMemberSelect(MemberSelectTree tree, Void p) {
      use(tree, end(tree) - tree.getIdentifier().length());
      return super.visitMemberSelect(tree, p);
    }

    public Void visitMemberReference(MemberReferenceTree tree, Void p) {
      use(tree, end(tree) - 1);
      return super.visitMemberReference(tree, p);
    }

    public Void visitNewClass(NewClassTree tree, Void p) {
      use(tree, start(tree.getIdentifier()));
      return super.visitNewClass(tree, p);
    }
  }
}
